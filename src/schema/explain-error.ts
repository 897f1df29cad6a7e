import type { ErrorObject } from 'ajv';
import { nearestName } from '../base/nearest-name.js';
import type { JsonSchema } from '../contract/json.js';
import type { Finding } from './checker.js';
import { escapeSegment, followPointer, isSchemaObject } from './map-schema.js';
import { showText, showValue } from './show-value.js';

/** Turns one ajv error into a sentence: the expected value, the actual value, and the nearest valid name. */
export function explainError(error: ErrorObject, root: unknown): Finding {
  const { instancePath: path, keyword } = error;
  // Without `verbose` (a value too large to explain in full) the data must be looked up.
  const data = 'data' in error ? error.data : followPointer(root, path);
  const explain = Object.hasOwn(EXPLAIN, keyword) ? EXPLAIN[keyword] : undefined;
  const { message, about = path } = explain?.(error, data) ?? {
    message: `${showText(error.message ?? `fails "${keyword}"`, 200)}, got ${showValue(data)}`,
  };
  return { path, about, message };
}

interface Explanation {
  readonly message: string;
  readonly about?: string;
}

type Explain = (error: ErrorObject, data: unknown) => Explanation;

const EXPLAIN: Readonly<Record<string, Explain>> = {
  type: (error, data) => expected(describeSchema({ type: error.params.type }), gotKind(data)),
  enum: explainEnum,
  const: (error, data) => expected(showValue(error.params.allowedValue), showValue(data)),
  minimum: explainBound,
  maximum: explainBound,
  exclusiveMinimum: explainBound,
  exclusiveMaximum: explainBound,
  multipleOf: (error, data) => expected(`a multiple of ${error.params.multipleOf}`, showValue(data)),
  minLength: explainLength,
  maxLength: explainLength,
  pattern: (error, data) =>
    expected(`a string that matches ${showText(`/${error.params.pattern}/`, 120)}`, showValue(data)),
  format: (error, data) => expected(`a string of format ${error.params.format}`, showValue(data)),
  minItems: explainCount,
  maxItems: explainCount,
  items: explainCount,
  additionalItems: explainCount,
  unevaluatedItems: explainCount,
  minProperties: explainCount,
  maxProperties: explainCount,
  uniqueItems: (_error, data) => expected('no item twice', showValue(data)),
  contains: (error, data) => {
    const item = describeSchema(isSchemaObject(error.schema) ? error.schema : {});
    return expected(`an array with at least ${error.params.minContains} of: ${item}`, showValue(data));
  },
  required: explainMissing,
  dependentRequired: explainDependent,
  dependencies: explainDependent,
  additionalProperties: (error) => explainUnknown(error, error.params.additionalProperty),
  unevaluatedProperties: (error) => explainUnknown(error, error.params.unevaluatedProperty),
  propertyNames: (error) => ({
    message: `the property name ${showValue(error.params.propertyName)} is not accepted`,
  }),
  not: (error, data) => expected(`anything but ${describeSchema(toSchema(error.schema))}`, showValue(data)),
  'false schema': (_error, data) => ({ message: `is not accepted here, got ${showValue(data)}` }),
  if: (error) => ({ message: `does not fit the "${error.params.failingKeyword}" part of the schema` }),
};

function expected(what: string, came: string): Explanation {
  return { message: `expected ${what}, got ${came}` };
}

/** Says that a value is a string if that is the fault: `"5"` alone is easily read as a number. */
function gotKind(data: unknown): string {
  return typeof data === 'string' ? `the string ${showValue(data)}` : showValue(data);
}

function explainEnum(error: ErrorObject, data: unknown): Explanation {
  const choices: readonly unknown[] = error.params.allowedValues;
  const names = choices.filter((choice) => typeof choice === 'string');
  const nearest = typeof data === 'string' ? nearestName(data, names) : undefined;
  return expected(`one of ${listChoices(choices)}`, `${showValue(data)}${didYouMean(nearest)}`);
}

function explainBound(error: ErrorObject, data: unknown): Explanation {
  return expected(`a number ${error.params.comparison} ${error.params.limit}`, showValue(data));
}

function explainLength(error: ErrorObject, data: unknown): Explanation {
  const length = typeof data === 'string' ? Array.from(data).length : 0;
  return expected(
    `${atLeastOrMost(error)} ${plural(error.params.limit, 'character')}`,
    `${length} (${showValue(data)})`,
  );
}

function explainCount(error: ErrorObject, data: unknown): Explanation {
  const noun = error.keyword.endsWith('Properties') ? 'property' : 'item';
  const inside = typeof data === 'object' && data !== null ? Object.keys(data).length : 0;
  const limit: unknown = error.params.limit ?? error.params.len ?? 0;
  return expected(`${atLeastOrMost(error)} ${plural(limit, noun)}`, String(inside));
}

function atLeastOrMost(error: ErrorObject): string {
  return error.keyword.startsWith('min') ? 'at least' : 'at most';
}

function explainMissing(error: ErrorObject): Explanation {
  const name: string = error.params.missingProperty;
  const declared = Object.hasOwn(declaredProperties(error), name)
    ? declaredProperties(error)[name]
    : undefined;
  const kind = isSchemaObject(declared) ? ` (${describeSchema(declared)})` : '';
  return { message: `missing required property ${showValue(name)}${kind}`, about: below(error, name) };
}

function explainDependent(error: ErrorObject): Explanation {
  const { property, missingProperty } = error.params;
  return {
    message: `missing property ${showValue(missingProperty)}, which is required when ${showValue(property)} is present`,
    about: below(error, missingProperty),
  };
}

function explainUnknown(error: ErrorObject, name: string): Explanation {
  const present = isSchemaObject(error.data) ? error.data : {};
  const declared = Object.keys(declaredProperties(error));
  const free = declared.filter((key) => !Object.hasOwn(present, key));
  const nearest = nearestName(name, free);
  const hint = nearest === undefined ? listKnown(declared) : didYouMean(nearest);
  return { message: `unknown property ${showValue(name)}${hint}`, about: below(error, name) };
}

/** Properties of the schema itself and of schemas that apply to the same object. */
function declaredProperties(error: ErrorObject): Readonly<Record<string, unknown>> {
  const schema = toSchema(error.parentSchema);
  const parts = [
    schema,
    ...['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => schema[keyword] ?? []),
    schema.then,
    schema.else,
  ];
  return Object.assign(
    {},
    ...parts
      .filter(isSchemaObject)
      .map((part) => part.properties)
      .filter(isSchemaObject)
      .toReversed(),
  );
}

function listKnown(declared: readonly string[]): string {
  if (declared.length === 0 || declared.length > 12) return '';
  return ` (known: ${declared.map((name) => showValue(name)).join(', ')})`;
}

function didYouMean(nearest: string | undefined): string {
  return nearest === undefined ? '' : ` (did you mean ${showValue(nearest)}?)`;
}

function below(error: ErrorObject, name: string): string {
  return `${error.instancePath}/${escapeSegment(name)}`;
}

function plural(count: unknown, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  return `${String(count)} ${noun === 'property' ? 'properties' : `${noun}s`}`;
}

function toSchema(value: unknown): Readonly<Record<string, unknown>> {
  return isSchemaObject(value) ? value : {};
}

const MAX_LISTED_CHARACTERS = 300;

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

/** A short description of a schema: `a string or null`, `an object with "path" and "kind": "file"`. */
export function describeSchema(schema: JsonSchema): string {
  if ('const' in schema) return showValue(schema.const);
  if (Array.isArray(schema.enum)) return `one of ${listChoices(schema.enum)}`;
  if (typeof schema.type === 'string') return describeType(schema.type, schema);
  if (Array.isArray(schema.type)) return schema.type.map((type) => describeType(type, schema)).join(' or ');
  if (isSchemaObject(schema.properties)) return describeObject(schema);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives) && alternatives.length <= 4) {
    return alternatives.map((part) => describeSchema(isSchemaObject(part) ? part : {})).join(' or ');
  }
  return 'what its schema says';
}

/** `"create", "overwrite", "append"`, as many as fit. */
export function listChoices(choices: readonly unknown[]): string {
  let text = '';
  for (const [at, choice] of choices.entries()) {
    const next = `${at === 0 ? '' : ', '}${showValue(choice)}`;
    if (text.length + next.length > MAX_LISTED_CHARACTERS) return `${text}, … (${choices.length} in all)`;
    text += next;
  }
  return text;
}

function describeType(type: unknown, schema: JsonSchema): string {
  if (type === 'object') return describeObject(schema);
  const kind = typeof type === 'string' && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  return kind ?? showValue(type);
}

function describeObject(schema: JsonSchema): string {
  const properties = isSchemaObject(schema.properties) ? schema.properties : {};
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const names = required.slice(0, 5).map((name) => {
    const property =
      typeof name === 'string' && Object.hasOwn(properties, name) ? properties[name] : undefined;
    const fixed = isSchemaObject(property) && 'const' in property ? `: ${showValue(property.const)}` : '';
    return `${showValue(name)}${fixed}`;
  });
  return names.length === 0 ? 'an object' : `an object with ${names.join(', ')}`;
}
