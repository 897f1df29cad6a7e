import type { WireFormat } from '../wire-format.js';
import { anthropicHistory } from './anthropic-history.js';
import { geminiHistory } from './gemini-history.js';
import type { HistoryShape } from './history-shape.js';
import { nativeHistory } from './native-history.js';
import { openaiHistory } from './openai-history.js';
import { openaiResponsesHistory } from './openai-responses-history.js';

/** Text with fenced blocks has no place for results, and so no history. */
export type HistoryFormat = Exclude<WireFormat, 'fenced'>;

export const HISTORY_SHAPES: Readonly<Record<HistoryFormat, HistoryShape>> = {
  openai: openaiHistory,
  'openai-responses': openaiResponsesHistory,
  gemini: geminiHistory,
  anthropic: anthropicHistory,
  native: nativeHistory,
};
