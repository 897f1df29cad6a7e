import type { Provider } from '../provider.js';
import { isRecord, toRecords } from '../unknown-value.js';
import { describeGemini, type GeminiTool } from './describe.js';
import { geminiHistory } from './history.js';
import { geminiHttp } from './http.js';
import { isGemini, isResponse, readGemini, responseIdOf } from './read.js';
import { createGeminiAssembler } from './stream.js';
import { geminiTurns } from './turns.js';
import { type GeminiAnswer, writeGemini } from './write.js';

/**
 * Reads a response or its content with `functionCall` parts; writes the content with `functionResponse`
 * parts.
 */
export const gemini = {
  title: 'Gemini',
  vendor: 'google',
  recognizes: isGemini,
  idOf: responseIdOf,
  read: readGemini,
  textOf: (input) => textOfContent(isRecord(input) ? (firstContent(input.candidates) ?? input) : input),
  createAssembler: createGeminiAssembler,
  recognizesStream: (events) => events.some(isResponse),
  write: writeGemini,
  names: { allowed: /[A-Za-z0-9_.:-]/, first: /[A-Za-z_]/ },
  describe: describeGemini,
  history: geminiHistory,
  turns: geminiTurns,
  http: geminiHttp,
} satisfies Provider<GeminiAnswer, GeminiTool[]>;

function firstContent(candidates: unknown): unknown {
  return toRecords(candidates)[0]?.content;
}

/** Thoughts are not part of the text. */
function textOfContent(content: unknown): string {
  const parts = isRecord(content) ? toRecords(content.parts) : [];
  return parts
    .filter(({ thought }) => thought !== true)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');
}
