import type { ContentBlock } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import { asJsonObjects } from '../json-fields.js';
import { callsInPlaces, type ProviderTurns, userParts } from '../write-turns.js';
import { carry } from './write.js';

export const openaiResponsesTurns: ProviderTurns = {
  writeUser: (content) => ({
    role: 'user',
    content: typeof content === 'string' ? content : userParts(content, toText, carryBlock),
  }),
  writeAssistant: (message) => [
    ...(message.text === '' ? [] : [{ role: 'assistant', content: message.text }]),
    ...callsInPlaces(message).map(({ id, name, args }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: JSON.stringify(args),
    })),
  ],
};

function toText(text: string): JsonObject {
  return { type: 'input_text', text };
}

function carryBlock(block: ContentBlock): JsonObject | undefined {
  const carried = carry(block);
  return carried === undefined ? undefined : asJsonObjects(carried)[0];
}
