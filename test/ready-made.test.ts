import type { ValidateFunction } from 'ajv';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { compiledValidators } from '../scripts/compile-validators.js';
import { attachedCommandTool } from '../src/cli/attached-command.js';
import { builtinTools } from '../src/executor/builtin-tools.js';
import { compileInput } from '../src/schema/compile-schema.js';

let readyMade: Readonly<Record<string, ValidateFunction>> = {};

beforeAll(async () => {
  const code = encodeURIComponent(await compiledValidators());
  ({ READY_MADE: readyMade } = await import(`data:text/javascript,${code}`));
});

interface Property {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Property;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Property>>;
  readonly required?: readonly string[];
}

const RIGHT: readonly (readonly [type: string, values: (property: Property) => fc.Arbitrary<unknown>])[] = [
  ['string', () => fc.constantFrom('a', '*.ts', 'two words')],
  ['integer', () => fc.constantFrom(1, 2, 100)],
  ['boolean', () => fc.boolean()],
  [
    'array',
    ({ items = {}, minItems = 0, maxItems = 3 }) =>
      fc.array(valuesOf(items, 60), { minLength: minItems, maxLength: Math.min(maxItems, minItems + 1) }),
  ],
  ['object', ({ properties = {}, required = [] }) => argumentsLike(properties, required, 60)],
];

const WRONG = fc.oneof(
  fc.constantFrom('', ' ', '\u00a0', null, true, 0, 1.5, -1, 1e12, [], {}, 'create', 'a\0b'),
  fc.string({ maxLength: 70 }),
  fc.integer(),
);

/**
 * @param right the number of valid values for each wrong one: nested parts are wrong less often, because otherwise no
 *   whole value would be valid
 */
function valuesOf(property: Property, right = 9): fc.Arbitrary<unknown> {
  const { type, enum: choices = [] } = property;
  const types = [type].flat();
  const values = RIGHT.filter(([name]) => types.includes(name)).map(([, of]) => of(property));
  const known = choices.length > 0 ? [fc.constantFrom(...choices)] : values;
  const arbitrary = fc.oneof(...known);
  return fc.oneof({ weight: right, arbitrary }, { weight: 1, arbitrary: WRONG });
}

/** Arguments with names that the schema knows, most of them right. */
function argumentsLike(
  properties: Readonly<Record<string, Property>>,
  required: readonly string[] = [],
  right = 9,
): fc.Arbitrary<object> {
  const values = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, valuesOf(property, right)]),
  );
  const others = fc.oneof(
    { weight: right, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom('other', 'toString') },
  );
  return fc
    .tuple(fc.record(values, { requiredKeys: [...required] }), others)
    .map(([args, other]) => (other === null ? args : { ...args, [other]: 1 }));
}

describe('the validators of a build', () => {
  const attached = attachedCommandTool({
    name: 'attached_command',
    attached: { kind: 'streams', isAttended: false },
  });
  it.each([...builtinTools(), attached].map((tool) => [tool.name, tool] as const))(
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
