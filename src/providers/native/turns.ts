import { isJsonObject, readJson } from '../json-fields.js';
import { callsInPlaces, type ProviderTurns } from '../write-turns.js';

/** Conversations of models without a provider's format: scripts and fakes. */
export const nativeTurns: ProviderTurns = {
  // Through JSON, which encodes the bytes of blocks in base64.
  writeUser: (content) => {
    const message = readJson(JSON.stringify({ role: 'user', content }));
    return isJsonObject(message) ? message : {};
  },
  writeAssistant: (message) => [
    {
      role: 'assistant',
      content: message.text,
      calls: callsInPlaces(message).map(({ id, name, args }) => ({ id, name, args })),
    },
  ],
};
