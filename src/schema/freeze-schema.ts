import { countSlips } from '../base/nearest-name.js';
import type { JsonSchema } from '../contract/json.js';
import { ToolError } from '../errors/tool-error.js';
import type { CheckerRole } from './checker.js';
import { freezeJson } from './freeze-json.js';
import { isSchemaObject, visitSchema } from './map-schema.js';
import { showText, showValue } from './show-value.js';

export type Dialect = '2020-12' | 'draft-07';

export interface FrozenSchema {
  /** A frozen private copy. */
  readonly schema: JsonSchema;
  readonly dialect: Dialect;
}

const LIMITS = { maxBytes: 1_048_576, maxDepth: 256, maxEntries: 100_000, unsafeIntegers: 'accept' } as const;

const DIALECTS: readonly (readonly [uri: RegExp, dialect: Dialect])[] = [
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, '2020-12'],
  [/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/, 'draft-07'],
];

const DIALECT_URI = /^https?:\/\/json-schema\.org\//i;

/**
 * Keywords that validate. Any other word is an annotation and is ignored, unless it resembles one of them.
 */
const DECIDING = [
  '$ref additionalItems additionalProperties allOf anyOf const contains dependencies dependentRequired dependentSchemas',
  'else enum exclusiveMaximum exclusiveMinimum format items maxContains maxItems maxLength maxProperties maximum',
  'minContains minItems minLength minProperties minimum multipleOf oneOf pattern patternProperties prefixItems',
  'properties propertyNames required then type unevaluatedItems unevaluatedProperties uniqueItems',
].flatMap((line) => line.split(' '));
const DECIDES = new Set(DECIDING);
/** Intended words that resemble a keyword, and the most frequent annotations. */
const ANNOTATIONS = new Set(
  'formats options patterns title types example examples description default'.split(' '),
);

/**
 * Checks and copies a schema before it is compiled: plain JSON, a known dialect, no misspelled keywords (they
 * would be ignored and validate nothing).
 *
 * @throws ToolError `config_invalid`
 */
export function freezeSchema(schema: unknown, { owner, direction }: CheckerRole): FrozenSchema {
  const frozen = freezeJson(schema, LIMITS);
  if (!frozen.ok) {
    const where = frozen.path === '' ? 'it' : showText(frozen.path, 100);
    throw unusable(owner, `${where} ${frozen.message}. Give a plain JSON Schema.`);
  }
  if (!isSchemaObject(frozen.value)) {
    throw unusable(owner, `it is ${showValue(frozen.value)}. Give a JSON Schema object.`);
  }
  if (direction === 'input') refuseOtherThanObject(frozen.value, owner);
  const dialect = readDialect(frozen.value, owner);
  visitSchema(frozen.value, (node) => refuseSlips(node, owner));
  return { schema: frozen.value, dialect };
}

/** A refusal that names the schema's owner. */
export function unusable(owner: string, why: string, cause?: unknown): ToolError {
  return new ToolError('config_invalid', `Cannot use ${owner}: ${why}`, cause === undefined ? {} : { cause });
}

/** Arguments are always an object: a schema that accepts none would refuse every call. */
function refuseOtherThanObject({ type }: JsonSchema, owner: string): void {
  if (type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))) return;
  throw unusable(
    owner,
    `its type is ${showValue(type)}, and arguments are always an object. Use "type": "object".`,
  );
}

function readDialect(schema: JsonSchema, owner: string): Dialect {
  const uri = schema.$schema;
  if (uri === undefined) return '2020-12';
  const known = DIALECTS.find(([pattern]) => typeof uri === 'string' && pattern.test(uri));
  if (known !== undefined) return known[1];
  throw unusable(
    owner,
    `its $schema is ${showValue(uri)}. Use JSON Schema 2020-12 (the default) or draft-07.`,
  );
}

function refuseSlips(node: JsonSchema, owner: string): void {
  // Ajv would compile a validator that returns a promise, and a promise is always truthy.
  if ('$async' in node)
    throw unusable(owner, 'it has the keyword "$async", which is not JSON Schema. Leave it out.');
  if (typeof node.$id === 'string' && DIALECT_URI.test(node.$id)) {
    throw unusable(
      owner,
      `its $id ${showValue(node.$id)} is that of JSON Schema itself. Use one of your own, or none.`,
    );
  }
  for (const keyword of Object.keys(node)) {
    const meant = findSlip(keyword);
    if (meant === undefined) continue;
    throw unusable(owner, `it has the unknown keyword ${showValue(keyword)}. Did you mean "${meant}"?`);
  }
}

function findSlip(keyword: string): string | undefined {
  if (DECIDES.has(keyword) || ANNOTATIONS.has(keyword) || keyword.length < 4 || keyword.length > 30)
    return undefined;
  const folded = keyword.toLowerCase().replace(/[_-]/g, '');
  return DECIDING.find((known) => {
    const other = known.toLowerCase();
    // One slip changes the length by at most one, so most words need no slow comparison.
    const near = Math.abs(folded.length - other.length) <= 1;
    return near && (folded === other || (other.length > 5 && countSlips(folded, other) === 1));
  });
}
