import { toBase64 } from '../base/base64.js';
import type { ContentBlock, ReadError, ToolCall } from '../contract/call.js';
import type { JsonObject } from '../contract/json.js';
import type { AssistantContent, UserMessage } from '../contract/model.js';
import { blockWords, bytesOf } from './content-words.js';

/** Writes conversations in a provider's format. */
export interface ProviderTurns {
  writeUser(content: UserMessage['content']): JsonObject;
  /** The message of a model of another format. */
  writeAssistant(message: AssistantContent, model: string): readonly JsonObject[];
}

/** The parts of the user's message: texts and the results of `carry`; unsupported blocks in words. */
export function userParts(
  content: UserMessage['content'],
  toText: (text: string) => JsonObject,
  carry: (block: ContentBlock) => JsonObject | undefined,
): JsonObject[] {
  if (typeof content === 'string') return [toText(content)];
  const parts = content.map((block) => carry(block) ?? toText(blockWords(block, NOT_CARRIED)));
  return parts.length === 0 ? [toText('')] : parts;
}

const NOT_CARRIED = 'not shown, because this model does not take it';

export function dataUrl(block: ContentBlock): string | undefined {
  if (!('data' in block) || block.data === undefined || block.mediaType === undefined) return undefined;
  return `data:${block.mediaType};base64,${toBase64(bytesOf(block))}`;
}

/** All calls of a message in order; unreadable ones without arguments. */
export function callsInPlaces({ calls, errors }: AssistantContent): readonly ToolCall[] {
  const places = [...calls];
  for (const error of errors) places.splice(error.index, 0, toEmptyCall(error));
  return places;
}

function toEmptyCall({ index, id, name }: ReadError): ToolCall {
  return { id: id ?? `call_${index}`, name: name ?? 'unknown', args: {} };
}
