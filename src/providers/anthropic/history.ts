import { type HistoryShape, idOf, isMessage } from '../repair/history-shape.js';
import { hostedMessages } from '../repair/hosted-messages.js';
import { isRecord, toRecords } from '../unknown-value.js';
import { isToolUse, readAnthropic } from './read.js';
import { writeAnthropic } from './write.js';

/** Messages with content blocks: all results of a message come first in the next user message. */
export const anthropicHistory: HistoryShape = {
  ...hostedMessages({
    parts: 'content',
    modelRole: 'assistant',
    toPart: (text) => ({ type: 'text', text }),
    isCall: isToolUse,
    readCalls: (message, tools) => readAnthropic(message, tools),
    withCallId: (block, id) => (isRecord(block) ? { ...block, id } : block),
    // A thought that led to a call is meaningless without it.
    standsAlone: (block) => !isRecord(block) || !THOUGHTS.has(block.type),
    readResult: (block) => {
      if (!isRecord(block) || block.type !== 'tool_result') return undefined;
      return { id: idOf(block.tool_use_id), name: undefined };
    },
  }),
  bodyKey: 'messages',
  mayBe: (list, body) =>
    list.length > 0 &&
    list.every(isMessage) &&
    (toRecords(list).some(({ content }) => Array.isArray(content)) || 'system' in body),
  speaks: ({ content }) => toRecords(content).some(({ type }) => BLOCKS.has(type)),
  rename: (result, id) => (isRecord(result) ? { ...result, tool_use_id: id } : result),
  write: (result, origin) => writeAnthropic([result], () => origin).content[0],
};

const BLOCKS: ReadonlySet<unknown> = new Set(['tool_use', 'tool_result', 'thinking', 'redacted_thinking']);
const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);
