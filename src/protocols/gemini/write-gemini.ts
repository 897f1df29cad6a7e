import type { JsonObject } from '../../contract/json.js';
import type { ToolResult } from '../../contract/result.js';
import type { CallOrigin, OriginLookup } from '../call-origin.js';
import { toModelText } from '../to-model-text.js';

export interface GeminiFunctionResponse {
  readonly functionResponse: {
    /** Left out when the call came without one: results are then told apart by their order. */
    readonly id?: string;
    readonly name: string;
    readonly response: JsonObject;
  };
}

/** The content that follows the one with the calls. */
export interface GeminiAnswer {
  readonly role: 'user';
  readonly parts: GeminiFunctionResponse[];
}

/** One content for all calls of one response: the API demands as many responses as there were calls. */
export function writeGemini(results: readonly ToolResult[], originOf: OriginLookup): GeminiAnswer {
  return { role: 'user', parts: results.map((result) => toPart(result, originOf(result.callId))) };
}

function toPart(result: ToolResult, origin: CallOrigin | undefined): GeminiFunctionResponse {
  const text = toModelText(result);
  const name = origin?.name ?? result.toolName;
  const response = result.success ? { output: text } : { error: text };
  if (origin?.unnamed === true) return { functionResponse: { name, response } };
  return { functionResponse: { id: result.callId, name, response } };
}
