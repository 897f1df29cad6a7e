import type { ContentBlock } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import { asJsonObjects } from '../json-fields.js';
import { callsInPlaces, type ProviderTurns, userParts } from '../write-turns.js';
import { carry } from './write.js';

export const geminiTurns: ProviderTurns = {
  writeUser: (content) => ({ role: 'user', parts: userParts(content, toText, carryBlock) }),
  writeAssistant: (message, model) => {
    const calls = callsInPlaces(message).map(({ id, name, args }, at) => ({
      functionCall: { id, name, args },
      ...(at === 0 && SIGNS.test(model) ? { thoughtSignature: UNSIGNED } : {}),
    }));
    const parts = [...(message.text === '' ? [] : [toText(message.text)]), ...calls];
    return parts.length === 0 ? [] : [{ role: 'model', parts }];
  },
};

/** Models that reject a call without the signature of its thought, and the value that they accept instead. */
const SIGNS = /gemini-(?:[3-9]|[1-9]\d)/;
const UNSIGNED = 'skip_thought_signature_validator';

function toText(text: string): JsonObject {
  return { text };
}

function carryBlock(block: ContentBlock): JsonObject | undefined {
  const carried = carry(block);
  return carried === undefined ? undefined : asJsonObjects(carried)[0];
}
