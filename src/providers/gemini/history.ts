import type { HistoryShape } from '../repair/history-shape.js';
import { idOf } from '../repair/history-shape.js';
import { hostedMessages } from '../repair/hosted-messages.js';
import { isRecord } from '../unknown-value.js';
import { isCallPart, readGemini } from './read.js';
import { writeGemini } from './write.js';

/** Contents with parts: as many responses as calls, in the content after theirs. */
export const geminiHistory: HistoryShape = {
  ...hostedMessages({
    parts: 'parts',
    modelRole: 'model',
    toPart: (text) => ({ text }),
    isCall: isCallPart,
    readCalls: (content) => readGemini(content),
    withCallId: (part, id) => withId(part, ['functionCall', 'function_call'], id),
    standsAlone: (part) => !isRecord(part) || part.thought !== true,
    readResult: (part) => {
      const response = isRecord(part) ? (part.functionResponse ?? part.function_response) : undefined;
      return isRecord(response) ? { id: idOf(response.id), name: idOf(response.name) } : undefined;
    },
  }),
  bodyKey: 'contents',
  maySpeakAlone: true,
  mayBe: (_list, body) => 'contents' in body,
  speaks: ({ parts }) => Array.isArray(parts),
  rename: (part, id) => withId(part, ['functionResponse', 'function_response'], id),
  write: (result, origin) => writeGemini([result], () => origin).parts[0],
};

function withId(part: unknown, keys: readonly string[], id: string): unknown {
  if (!isRecord(part)) return part;
  const key = keys.find((candidate) => isRecord(part[candidate]));
  return key === undefined ? part : { ...part, [key]: { ...Object(part[key]), id } };
}
