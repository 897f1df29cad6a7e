import type { ErrorObject, ValidateFunction } from 'ajv';
import type { JsonSchema } from '../contract/json.js';
import type { Finding } from './checker.js';
import { checkAgainstDialect, compileWithAjv } from './compile-with-ajv.js';
import { explainErrors } from './explain-errors.js';
import { type FrozenSchema, unusable } from './freeze-schema.js';
import { mapSchema, withoutKeywords } from './map-schema.js';
import { READY_MADE } from './ready-made.js';
import { showText, showValue } from './show-value.js';

/**
 * For a value with more parts than this, only the first fault is reported: a list of 100,000 faults is
 * useless.
 */
const MAX_EXPLAINED_VALUES = 2_000;
const MAX_KEPT_VALIDATORS = 256;

const NAMELESS = 'https://toolexec.invalid/schema';

const INHERITED_NAME =
  /"(?:constructor|toString|toLocaleString|valueOf|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|__\w+__)"/;

/** A compiled JSON Schema. */
export class JsonValidator {
  readonly schema: JsonSchema;
  /** Whether the schema accepts the value. It changes, coerces and fills in nothing. */
  readonly accepts: ValidateFunction;
  readonly #frozen: FrozenSchema;
  readonly #ownProperties: boolean;
  readonly #namesDialect: boolean;
  #reporting: ValidateFunction | undefined;

  constructor(frozen: FrozenSchema, text: string) {
    this.schema = frozen.schema;
    this.#frozen = frozen;
    this.#ownProperties = INHERITED_NAME.test(text);
    this.#namesDialect = text.includes('json-schema.org');
    this.accepts = READY_MADE[text] ?? this.#compile('first');
  }

  /** The faults of a rejected value. */
  explain(value: unknown): readonly Finding[] {
    return explainErrors(this.#collectErrors(value), this.schema, value);
  }

  #collectErrors(value: unknown): readonly ErrorObject[] {
    this.#reporting ??= this.#compile('all');
    const small = countValues(value, MAX_EXPLAINED_VALUES) < MAX_EXPLAINED_VALUES;
    const validate = small ? this.#reporting : this.accepts;
    if (validate(value)) return [];
    return validate.errors ?? [];
  }

  #compile(report: 'first' | 'all'): ValidateFunction {
    const { schema, dialect } = this.#frozen;
    return compileWithAjv(toAjvSchema(schema), {
      dialect,
      report,
      ownProperties: this.#ownProperties,
      dialectSchema: this.#namesDialect,
    });
  }
}

/**
 * Adapts a schema where ajv differs from the specification: the dialect's name, a root without an id (a
 * reference to `#` would fail), and two annotations of other dialects that it rejects.
 */
export function toAjvSchema(schema: JsonSchema): JsonSchema {
  return mapSchema({ $id: NAMELESS, ...withoutKeywords(schema, '$schema') }, (node) =>
    withoutKeywords(node, 'id', ...(node.type === undefined ? ['nullable'] : [])),
  );
}

const kept = new Map<string, JsonValidator>();
/**
 * Compiles a frozen schema, or finds the validator of an equal schema.
 *
 * @param owner the schema's owner, for messages: `the input schema of write_file`.
 * @param trust `known`: skips the check against the dialect (50 ms the first time).
 * @throws ToolError `config_invalid` if it cannot be compiled.
 */
export function findValidator(
  frozen: FrozenSchema,
  owner: string,
  trust: 'known' | 'foreign',
): JsonValidator {
  const text = JSON.stringify(frozen.schema);
  try {
    const fault = trust === 'known' ? undefined : checkAgainstDialect(frozen.schema, frozen.dialect);
    if (fault !== undefined) throw new Error(fault);
    const known = kept.get(text);
    if (known !== undefined) return known;
    const validator = new JsonValidator(frozen, text);
    // Runs it once: a schema with endless self-reference fails here, not in the middle of a call.
    validator.accepts({});
    keep(text, validator);
    return validator;
  } catch (cause) {
    throw unusable(owner, explainCause(cause), cause);
  }
}

function keep(text: string, validator: JsonValidator): void {
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT_VALIDATORS && oldest !== undefined) kept.delete(oldest);
  kept.set(text, validator);
}

function explainCause(cause: unknown): string {
  if (cause instanceof RangeError) return 'it refers to itself without end, or is nested too deep.';
  if (!(cause instanceof Error)) return 'it cannot be compiled.';
  const [, reference] = /^can't resolve reference (\S+) from id/.exec(cause.message) ?? [];
  if (reference === undefined) return showText(cause.message, 400);
  const shown = showValue(reference.replace(NAMELESS, ''), 200);
  return `its reference ${shown} leads nowhere. Only references within the schema are followed: use its $defs.`;
}

/** Counts objects, arrays and their members, up to the limit. */
function countValues(value: unknown, limit: number): number {
  let count = 0;
  const open: unknown[] = [value];
  while (open.length > 0 && count < limit) {
    const next = open.pop();
    count++;
    if (typeof next !== 'object' || next === null) continue;
    const inside: readonly unknown[] = Array.isArray(next) ? next : Object.values(next);
    if (inside.length >= limit) return limit;
    open.push(...inside);
  }
  return count;
}
