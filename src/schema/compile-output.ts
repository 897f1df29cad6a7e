import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../contract/json.js';
import type { Checker } from './checker.js';
import { type CompileOptions, compileSchema } from './compile-schema.js';
import { showText } from './show-value.js';

/**
 * The checker of a tool's structured output (E042), which need not be an object. Errors as `compileInput`.
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
