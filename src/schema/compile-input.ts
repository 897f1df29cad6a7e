import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../contract/json.js';
import type { Checker } from './checker.js';
import { type CompileOptions, compileSchema } from './compile-schema.js';
import { showText } from './show-value.js';

/**
 * The checker of a tool's arguments (FR-VAL-01: D023, D024). Arguments are always an object.
 *
 * @throws ToolError `config_invalid` naming the tool when the schema cannot be used. With `first_use` all but the plain
 *   faults is found by the first check, or by the first look at `jsonSchema`.
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
