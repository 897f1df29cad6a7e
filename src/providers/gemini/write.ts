import { toBase64 } from '../../base/base64.js';
import type { ContentBlock, ToolResult } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import type { CallOrigin, OriginLookup } from '../call-origin.js';
import { bytesOf, toModelParts } from '../content-words.js';

export interface GeminiFunctionResponse {
  readonly functionResponse: {
    /** Absent if the call had no id: then the order of results counts. */
    readonly id?: string;
    readonly name: string;
    readonly response: JsonObject;
    /** Parts that the model sees besides the response. */
    readonly parts?: GeminiResponsePart[];
  };
}

export interface GeminiResponsePart {
  /** `data` is base64. */
  readonly inlineData: { readonly mimeType: string; readonly data: string };
}

/** The content after the one with the calls. */
export interface GeminiAnswer {
  readonly role: 'user';
  readonly parts: GeminiFunctionResponse[];
}

/** One content for all calls of a response: the API requires as many responses as calls. */
export function writeGemini(results: readonly ToolResult[], originOf: OriginLookup): GeminiAnswer {
  return { role: 'user', parts: results.map((result) => toPart(result, originOf(result.callId))) };
}

function toPart(result: ToolResult, origin: CallOrigin | undefined): GeminiFunctionResponse {
  const content = toModelParts(result, carry);
  const parts = typeof content === 'string' ? [] : content.filter((part) => typeof part === 'object');
  const text = typeof content === 'string' ? content : toText(content, result);
  const name = origin?.name ?? result.toolName;
  const response = result.success ? { output: text } : { error: text };
  const answer = { name, response, ...(parts.length === 0 ? {} : { parts }) };
  return { functionResponse: origin?.unnamed === true ? answer : { id: result.callId, ...answer } };
}

/** The texts next to the parts; if there are none, a description of the parts. */
function toText(content: readonly (string | object)[], { output }: ToolResult): string {
  const texts = content.filter((part) => typeof part === 'string');
  return texts.length === 0 ? output : texts.join('\n');
}

/** Types that the models read inline; others are rejected. */
const CARRIED =
  /^(?:image\/(?:png|jpeg|webp|heic|heif)|audio\/(?:wav|mp3|mpeg|aiff|aac|ogg|flac)|application\/pdf|text\/plain)$/;

/** A block in the provider's format; undefined if it is not supported. */
export function carry(block: ContentBlock): GeminiResponsePart | undefined {
  if (!('data' in block) || block.data === undefined || block.mediaType === undefined) return undefined;
  if (!CARRIED.test(block.mediaType)) return undefined;
  return { inlineData: { mimeType: block.mediaType, data: toBase64(bytesOf(block)) } };
}
