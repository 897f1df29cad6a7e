import { isJsonObject, readJson } from './json-fields.js';
import { callsInPlaces, type ProviderTurns } from './provider-turns.js';

/** Conversations of models that have no provider's shape: scripts and fakes. */
export const nativeTurns: ProviderTurns = {
  // Through JSON, which writes the bytes of blocks as base64.
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
