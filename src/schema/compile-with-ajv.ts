import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { DataValidateFunction } from 'ajv/dist/types/index.js';
import canonicalize from 'canonicalize';
import packages from '../base/large-packages.cjs';
import type { JsonSchema } from '../contract/json.js';
import { listChoices } from './explain-error.js';
import type { Dialect } from './freeze-schema.js';
import { compileLinearPattern } from './linear-pattern.js';
import { followPointer, mapSchema, withoutKeywords } from './map-schema.js';
import { showText, showValue } from './show-value.js';

export interface InstanceOptions {
  readonly dialect: Dialect;
  /** Stop at the first error, or collect all of them with their values. */
  readonly report: 'first' | 'all';
  /** Needed if a schema uses names that every object inherits (`constructor`); three times slower. */
  readonly ownProperties: boolean;
  /** Loads the dialect's own schema: to check schemas, or for a schema that refers to it. Takes 10 ms. */
  readonly dialectSchema: boolean;
}

type Instance = Ajv | Ajv2020;

/**
 * An instance keeps data for everything it compiled. It is replaced after this many schemas, so memory stays
 * flat.
 */
const MAX_COMPILED_BY_ONE = 500;
const instances = new Map<string, { readonly instance: Instance; compiled: number }>();

/**
 * Compiles a validator for a normalized schema. Compiled validators are not looked up here: `findValidator`
 * does that.
 *
 * @throws Error if the schema cannot be compiled: an unresolvable reference, an invalid pattern, …
 */
export function compileWithAjv(schema: JsonSchema, options: InstanceOptions): ValidateFunction {
  const instance = findInstance(options);
  try {
    return instance.compile(schema);
  } finally {
    instance.removeSchema(schema);
  }
}

/**
 * Validates a schema against its dialect's own schema; undefined if it is valid. Takes 50 ms the first time.
 * The schema's $schema is left out: ajv would search for the dialect under that name, in every spelling.
 */
export function checkAgainstDialect(schema: JsonSchema, dialect: Dialect): string | undefined {
  const instance = findInstance({ dialect, report: 'first', ownProperties: false, dialectSchema: true });
  if (instance.validateSchema(mapSchema(withoutKeywords(schema, '$schema'), dropEmptyLists)) === true)
    return undefined;
  const [error] = instance.errors ?? [];
  if (error === undefined) return 'it is not valid.';
  const { instancePath, message, keyword } = error;
  const came =
    instancePath === '' ? 'it' : `${instancePath} is ${showValue(followPointer(schema, instancePath))} and`;
  return showText(`${came} ${message ?? `fails "${keyword}"`}${listAllowed(error)}.`, 400);
}

/** The dialect's schema rejects empty lists, although they require nothing. */
function dropEmptyLists(node: JsonSchema): JsonSchema {
  const empty = ['allOf', 'prefixItems'].filter((keyword) => {
    const list = node[keyword];
    return Array.isArray(list) && list.length === 0;
  });
  return withoutKeywords(node, ...empty);
}

function listAllowed({ params }: ErrorObject): string {
  return Array.isArray(params.allowedValues) ? `: ${listChoices(params.allowedValues)}` : '';
}

function findInstance(options: InstanceOptions): Instance {
  const key = Object.values(options).join(' ');
  let kept = instances.get(key);
  if (kept === undefined || kept.compiled === MAX_COMPILED_BY_ONE) {
    kept = { instance: createInstance(options), compiled: 0 };
    instances.set(key, kept);
  }
  kept.compiled++;
  return kept.instance;
}

function createInstance({ dialect, report, ownProperties, dialectSchema }: InstanceOptions): Instance {
  const settings = {
    strict: false,
    meta: dialectSchema,
    // Schemas are validated against their dialect once, before this.
    validateSchema: false,
    // A schema's $id must not be visible to other tools' schemas.
    addUsedSchema: false,
    logger: false,
    allErrors: report === 'all',
    verbose: report === 'all',
    ownProperties,
    code: { regExp: Object.assign((pattern: string) => compileLinearPattern(pattern), { code: '' }) },
  } as const;
  const { Ajv, Ajv2020 } = { ...packages.ajv(), ...packages.ajv2020() };
  const instance = dialect === '2020-12' ? new Ajv2020(settings) : new Ajv(settings);
  packages.ajvFormats().default(instance as Ajv);
  // Ajv compares every item with every other: an array of 40,000 arrays would take seconds.
  instance.removeKeyword('uniqueItems');
  instance.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: hasUniqueItems,
  });
  // Ajv divides binary fractions: 19.99 would not be a multiple of 0.01.
  instance.removeKeyword('multipleOf');
  instance.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    compile: compileMultipleOf,
  });
  return instance;
}

function compileMultipleOf(step: number): DataValidateFunction {
  const validate: DataValidateFunction = (value: number) => {
    const isMultiple = isMultipleOf(value, step);
    if (!isMultiple) validate.errors = [{ keyword: 'multipleOf', params: { multipleOf: step } }];
    return isMultiple;
  };
  return validate;
}

/** Compares the decimal numbers as they are written, not their binary approximations. */
function isMultipleOf(value: number, step: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(step)) return value % step === 0;
  const [digits, exponent] = toDecimal(value);
  const [stepDigits, stepExponent] = toDecimal(step);
  const shift = exponent - stepExponent;
  return shift < 0
    ? digits % (stepDigits * 10n ** BigInt(-shift)) === 0n
    : (digits * 10n ** BigInt(shift)) % stepDigits === 0n;
}

/** `19.99` is 1999 and -2. */
function toDecimal(value: number): readonly [digits: bigint, exponent: number] {
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}

function hasUniqueItems(wanted: boolean, items: readonly unknown[]): boolean {
  return !wanted || new Set(items.map((item) => canonicalize(item))).size === items.length;
}
