import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../contract/json.js';
import type { Checker } from './checker.js';
import { JsonChecker } from './json-checker.js';
import { settleSchema } from './settle-schema.js';
import { StandardChecker } from './standard-checker.js';

export interface CompileOptions {
  /**
   * `now` (default): whatever is wrong with the schema is found now. `first_use`: for schemas of our own, which are
   * known to be good: loading the validator (40 ms) and compiling wait for the first check.
   */
  readonly when?: 'now' | 'first_use';
}

/** What a checker is for, and how it speaks. */
export interface CheckerRole {
  readonly direction: 'input' | 'output';
  /** `Invalid arguments for write_file` */
  readonly title: string;
  /** `the input schema of write_file` */
  readonly owner: string;
}

/** @throws ToolError `config_invalid` */
export function compileSchema(
  schema: StandardSchemaV1 | JsonSchema,
  options: CompileOptions,
  role: CheckerRole,
): Checker {
  const now = options.when !== 'first_use';
  if (isStandardSchema(schema)) {
    const checker = new StandardChecker(schema, role);
    if (now) checker.deriveNow();
    return checker;
  }
  const checker = new JsonChecker(settleSchema(schema, role), role);
  if (now) checker.compileNow();
  return checker;
}

/** Some libraries' schemas are functions. */
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
