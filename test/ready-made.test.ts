import type { ValidateFunction } from 'ajv';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { validatorsModule } from '../scripts/compile-validators.js';
import { builtinTools } from '../src/executor/builtin-tools.js';
import { compileInput } from '../src/schema/compile-schema.js';

let readyMade: Readonly<Record<string, ValidateFunction>> = {};

beforeAll(async () => {
  const code = encodeURIComponent(await validatorsModule());
  ({ READY_MADE: readyMade } = await import(`data:text/javascript,${code}`));
});

interface Property {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
}

const RIGHT: readonly (readonly [type: string, values: fc.Arbitrary<unknown>])[] = [
  ['string', fc.constantFrom('a', '*.ts', 'two words')],
  ['integer', fc.constantFrom(1, 2, 100)],
  ['boolean', fc.boolean()],
];

const WRONG = fc.oneof(
  fc.constantFrom('', ' ', '\u00a0', null, true, 0, 1.5, -1, 1e12, [], {}, 'create', 'a\0b'),
  fc.string({ maxLength: 70 }),
  fc.integer(),
);

function valuesOf({ type, enum: choices = [] }: Property): fc.Arbitrary<unknown> {
  const types = [type].flat();
  const right = RIGHT.filter(([name]) => types.includes(name)).map(([, values]) => values);
  const known = choices.length > 0 ? [fc.constantFrom(...choices)] : right;
  return fc.oneof({ weight: 9, arbitrary: fc.oneof(...known) }, { weight: 1, arbitrary: WRONG });
}

/** Arguments with names that the schema knows, most of them right. */
function argumentsLike(properties: Readonly<Record<string, Property>>): fc.Arbitrary<object> {
  const values = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, valuesOf(property)]),
  );
  const others = fc.constantFrom(null, null, null, null, null, null, null, 'other', 'toString');
  return fc
    .tuple(fc.record(values, { requiredKeys: [] }), others)
    .map(([args, other]) => (other === null ? args : { ...args, [other]: 1 }));
}

describe('the validators of a build', () => {
  it.each(builtinTools().map((tool) => [tool.name, tool] as const))(
    'check the arguments of %s as ajv does',
    async (name, tool) => {
      const checker = compileInput(tool.input, name);
      const validate = readyMade[JSON.stringify(checker.jsonSchema)];
      if (validate === undefined) throw new Error(`the build has no validator for ${name}`);
      const { properties } = checker.jsonSchema as { properties: Record<string, Property> };
      const verdicts = { accepted: 0, refused: 0 };
      await fc.assert(
        fc.asyncProperty(argumentsLike(properties), async (args) => {
          const { ok } = await checker.check(args);
          expect(validate(args)).toBe(ok);
          verdicts[ok ? 'accepted' : 'refused']++;
        }),
        { numRuns: 500 },
      );
      expect(Math.min(verdicts.accepted, verdicts.refused)).toBeGreaterThan(10);
    },
  );
});
