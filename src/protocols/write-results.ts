import type { ToolResult } from '../contract/result.js';
import { type CallOrigin, createOriginLookup } from './call-origin.js';
import type { WireFormat } from './wire-format.js';
import { protocolOf } from './wire-protocols.js';

export interface WriteResultsOptions {
  /**
   * From `readCalls` or a stream's `end()`, which may be handed over whole. Without them every call is answered as
   * the format's usual kind, which is wrong for `shell_call`, `apply_patch_call` and their like.
   */
  readonly origins?: readonly CallOrigin[];
}

/**
 * The results of all calls of one response, as the provider wants them in the next request: one user message
 * (anthropic), messages of role `tool` (openai), output items of the kind that asked (openai-responses), one content
 * (gemini), an array of result objects (native, fenced: A027). In the order of `results` (D082, D145).
 * @throws ToolError `config_invalid` for what is no format.
 */
export function writeResults(
  format: WireFormat,
  results: readonly ToolResult[],
  options: WriteResultsOptions = {},
): unknown {
  return protocolOf(format).write(results, createOriginLookup(options.origins));
}
