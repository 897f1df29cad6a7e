import type { ContentBlock } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import { asJsonObjects } from '../json-fields.js';
import { callsInPlaces, type ProviderTurns, userParts } from '../write-turns.js';
import { carry } from './write.js';

export const anthropicTurns: ProviderTurns = {
  writeUser: (content) => ({
    role: 'user',
    content: typeof content === 'string' ? content : userParts(content, toText, carryBlock),
  }),
  writeAssistant: (message) => {
    const calls = callsInPlaces(message).map(({ id, name, args }) => ({
      type: 'tool_use',
      id,
      name,
      input: args,
    }));
    const texts = message.text.trim() === '' ? [] : [toText(message.text)];
    const content = [...texts, ...calls];
    return content.length === 0 ? [] : [{ role: 'assistant', content }];
  },
};

function toText(text: string): JsonObject {
  return { type: 'text', text };
}

function carryBlock(block: ContentBlock): JsonObject | undefined {
  const carried = carry(block);
  return carried === undefined ? undefined : asJsonObjects(carried)[0];
}
