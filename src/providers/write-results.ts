import { isObject, requireArgument } from '../base/normalize-options.js';
import type { ToolResult } from '../contract/call.js';
import { type CallOrigin, createOriginLookup, guessOrigin } from './call-origin.js';
import { type Answers, providerOf, type WireFormat } from './registry.js';
import { isRecord, isResultList } from './unknown-value.js';

/** From `readCalls` or a stream's `end()`, whose value can be passed directly. */
export interface WriteResultsOptions {
  readonly origins?: readonly CallOrigin[];
}

/**
 * Writes results without their response, in the provider's format for the next request; `answer` of
 * `readCalls` and of a stream's `end()` is simpler. One user message (anthropic), messages of role `tool`
 * (openai), output items of the matching kind (openai-responses), one content (gemini), an array of result
 * objects (native, fenced: A027). In the order of `results` (D082, D145).
 * @param origins of the response. Without them every call is answered as the usual kind, which is wrong for
 * `shell_call`, `apply_patch_call` and similar; and Gemini gets no id that looks made up (`call_0`): it then
 * matches results by name and order.
 * @throws ToolError `config_invalid` for an unknown format, `bad_args` for something else than results.
 */
export function writeResults<F extends WireFormat>(
  format: F,
  results: readonly ToolResult[],
  origins: readonly CallOrigin[] | WriteResultsOptions = [],
): Answers[F] {
  requireArgument('writeResults()', results, isResultList, 'an array of results', 'bad_args');
  requireArgument('writeResults()', origins, isObject, 'a list of origins or { origins }');
  const known = ('length' in origins ? origins : origins.origins) ?? [];
  requireArgument('writeResults()', known, isOriginList, 'a list of origins');
  return providerOf(format).write(results, known.length === 0 ? guessOrigin : createOriginLookup(known));
}

function isOriginList(value: unknown): boolean {
  return (
    Array.isArray(value) && value.every((origin) => isRecord(origin) && typeof origin.callId === 'string')
  );
}
