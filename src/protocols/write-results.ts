import type { ToolResult } from '../contract/result.js';
import type { WireFormat } from './wire-format.js';
import { protocolOf } from './wire-protocols.js';

/**
 * The results of all calls of one response, as the provider wants them in the next request: one user message
 * (anthropic), messages of role `tool` (openai), `function_call_output` items (openai-responses), one content
 * (gemini), an array of result objects (native, fenced: A027).
 * @throws ToolError `config_invalid` for what is no format.
 */
export function writeResults(format: WireFormat, results: readonly ToolResult[]): unknown {
  return protocolOf(format).write(results);
}
