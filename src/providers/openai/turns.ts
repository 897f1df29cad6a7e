import { toBase64 } from '../../base/base64.js';
import type { ContentBlock } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import { bytesOf } from '../content-words.js';
import { callsInPlaces, dataUrl, type ProviderTurns, userParts } from '../write-turns.js';

export const openaiTurns: ProviderTurns = {
  writeUser: (content) => ({
    role: 'user',
    content: typeof content === 'string' ? content : userParts(content, toText, carry),
  }),
  writeAssistant: (message) => {
    const calls = callsInPlaces(message).map(({ id, name, args }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }));
    if (calls.length > 0) return [{ role: 'assistant', content: message.text, tool_calls: calls }];
    return message.text === '' ? [] : [{ role: 'assistant', content: message.text }];
  },
};

function toText(text: string): JsonObject {
  return { type: 'text', text };
}

const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;
const AUDIO: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/mp3', 'mp3'],
  ['audio/mpeg', 'mp3'],
]);

function carry(block: ContentBlock): JsonObject | undefined {
  const url = dataUrl(block);
  if (url === undefined || !('mediaType' in block) || block.mediaType === undefined) return undefined;
  if (IMAGE.test(block.mediaType)) return { type: 'image_url', image_url: { url } };
  const format = AUDIO.get(block.mediaType);
  if (format !== undefined && 'data' in block) {
    return { type: 'input_audio', input_audio: { data: toBase64(bytesOf(block)), format } };
  }
  if (block.mediaType !== 'application/pdf') return undefined;
  return { type: 'file', file: { filename: 'document.pdf', file_data: url } };
}
