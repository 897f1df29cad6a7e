import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../contract/json.js';
import type { Checker, CheckResult } from './checker.js';
import { type CheckerRole, couldNotCheck, refuse } from './checker.js';
import type { FrozenSchema } from './freeze-schema.js';
import { freezeSchema } from './freeze-schema.js';
import { findValidator, type JsonValidator } from './json-validator.js';
import { lookOver } from './look-over.js';
import { showText } from './show-value.js';
import { StandardChecker } from './standard-checker.js';

export interface CompileOptions {
  /**
   * `now` (default): every fault of the schema is found now. `first_use`: library schemas are read, and all
   * schemas compiled, on first use. A schema that cannot fail is always compiled on first use.
   */
  readonly when?: 'now' | 'first_use';
}

/** @throws ToolError `config_invalid` */
export function compileSchema(
  schema: StandardSchemaV1 | JsonSchema,
  options: CompileOptions,
  role: CheckerRole,
): Checker {
  const checker = isStandardSchema(schema)
    ? new StandardChecker(schema, role)
    : new JsonChecker(freezeSchema(schema, role), role);
  if (options.when !== 'first_use') checker.checkNow();
  return checker;
}

/** Schemas of some libraries are functions. */
function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return false;
  if (!('~standard' in schema)) return false;
  const standard = schema['~standard'];
  return (
    typeof standard === 'object' &&
    standard !== null &&
    'validate' in standard &&
    typeof standard.validate === 'function'
  );
}

/** Checks against a JSON Schema. The value is passed on unchanged. */
class JsonChecker implements Checker {
  readonly jsonSchema: FrozenSchema['schema'];
  readonly #frozen: FrozenSchema;
  readonly #role: CheckerRole;
  #validator: JsonValidator | undefined;

  constructor(frozen: FrozenSchema, role: CheckerRole) {
    this.jsonSchema = frozen.schema;
    this.#frozen = frozen;
    this.#role = role;
  }

  checkNow(): void {
    const { isValid, isSimple } = lookOver(this.#frozen.schema);
    if (isSimple) return;
    this.#validator = findValidator(this.#frozen, this.#role.owner, isValid ? 'known' : 'foreign');
  }

  check(value: unknown): CheckResult {
    this.#validator ??= findValidator(this.#frozen, this.#role.owner, 'known');
    const validator = this.#validator;
    try {
      if (validator.accepts(value)) return { ok: true, value };
      return refuse(this.#role.title, validator.explain(value));
    } catch (error) {
      return refuse(this.#role.title, [couldNotCheck(this.#role.owner, error)]);
    }
  }
}

/**
 * Compiles the checker of a tool's arguments (D023, D024). Arguments are always an object.
 *
 * @throws ToolError `config_invalid` with the tool's name if the schema is not usable. With `first_use`, all
 * but the obvious faults are found by the first check, or by the first access to `jsonSchema`.
 */
export function compileInput(
  input: StandardSchemaV1 | JsonSchema,
  toolName: string,
  options: CompileOptions = {},
): Checker {
  const name = showText(toolName, 64);
  return compileSchema(input, options, {
    direction: 'input',
    title: `Invalid arguments for ${name}`,
    owner: `the input schema of ${name}`,
  });
}

/**
 * Compiles the checker of a tool's structured output (E042), which need not be an object. Errors as in
 * `compileInput`.
 *
 * @throws ToolError `config_invalid`
 */
export function compileOutput(
  output: StandardSchemaV1 | JsonSchema,
  toolName: string,
  options: CompileOptions = {},
): Checker {
  const name = showText(toolName, 64);
  return compileSchema(output, options, {
    direction: 'output',
    title: `Invalid structured output of ${name}`,
    owner: `the output schema of ${name}`,
  });
}
