import { toBase64 } from '../../base/base64.js';
import type { ContentBlock, ToolResult } from '../../contract/call.js';
import type { CallOrigin, OriginLookup } from '../call-origin.js';
import { bytesOf, toModelParts, toModelText } from '../content-words.js';

export interface AnthropicToolResult {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  /** A text if there is only text. */
  readonly content: string | AnthropicResultBlock[];
  /** Only for a failure. */
  readonly is_error?: true;
  /** The toolset of the called tool, which the answer must repeat. */
  readonly toolset_name?: string;
}

/** The message after the one with the calls. */
export interface AnthropicAnswer {
  readonly role: 'user';
  readonly content: AnthropicToolResult[];
}

export type AnthropicResultBlock =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image';
      readonly source: { readonly type: 'base64'; readonly media_type: ImageType; readonly data: string };
    }
  | {
      readonly type: 'document';
      readonly source: {
        readonly type: 'base64';
        readonly media_type: 'application/pdf';
        readonly data: string;
      };
      readonly title?: string;
    };

/** The API rejects a history that spreads the results of one message over several. */
export function writeAnthropic(results: readonly ToolResult[], originOf: OriginLookup): AnthropicAnswer {
  return { role: 'user', content: results.map((result) => toBlock(result, originOf(result.callId))) };
}

function toBlock(result: ToolResult, origin: CallOrigin | undefined): AnthropicToolResult {
  return {
    type: 'tool_result',
    tool_use_id: result.callId,
    content: toContent(result),
    ...(result.success ? {} : { is_error: true }),
    ...(origin?.toolset === undefined ? {} : { toolset_name: origin.toolset }),
  };
}

function toContent(result: ToolResult): AnthropicToolResult['content'] {
  // With `is_error` the API accepts only text.
  const parts = result.success ? toModelParts(result, carry) : toModelText(result);
  if (typeof parts === 'string') return parts;
  return parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part));
}

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const;
type ImageType = (typeof IMAGE_TYPES)[number];

/** A block in the provider's format; undefined if it is not supported. */
export function carry(block: ContentBlock): AnthropicResultBlock | undefined {
  if (!('data' in block) || block.data === undefined) return undefined;
  const { mediaType } = block;
  const data = toBase64(bytesOf(block));
  if (mediaType === 'application/pdf') {
    const title = block.type === 'resource' ? { title: block.uri.slice(0, MAX_TITLE) } : {};
    return { type: 'document', source: { type: 'base64', media_type: mediaType, data }, ...title };
  }
  const imageType = IMAGE_TYPES.find((type) => type === mediaType);
  if (imageType === undefined) return undefined;
  return { type: 'image', source: { type: 'base64', media_type: imageType, data } };
}

/** The API's limit in characters. */
const MAX_TITLE = 500;
