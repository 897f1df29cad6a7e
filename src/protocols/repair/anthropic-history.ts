import { anthropicProtocol } from '../anthropic/anthropic-protocol.js';
import { isToolUse } from '../anthropic/read-tool-use.js';
import { writeAnthropic } from '../anthropic/write-anthropic.js';
import { isRecord, toRecords } from '../is-record.js';
import type { HistoryShape } from './history-shape.js';
import { hostedMessages } from './hosted-messages.js';
import { idOf } from './read-calls-of-turn.js';

/** Messages whose content is blocks: all results of one message first in the user message right after it. */
export const anthropicHistory: HistoryShape = {
  ...hostedMessages({
    parts: 'content',
    modelRole: 'assistant',
    toPart: (text) => ({ type: 'text', text }),
    isCall: isToolUse,
    readCalls: (message, tools) => anthropicProtocol.read(message, tools),
    withCallId: (block, id) => (isRecord(block) ? { ...block, id } : block),
    // A thought that led to a call says nothing without it.
    standsAlone: (block) => !isRecord(block) || !THOUGHTS.has(block.type),
    readResult: (block) => {
      if (!isRecord(block) || block.type !== 'tool_result') return undefined;
      return { id: idOf(block.tool_use_id), name: undefined };
    },
  }),
  speaks: ({ content }) => toRecords(content).some(({ type }) => BLOCKS.has(type)),
  rename: (result, id) => (isRecord(result) ? { ...result, tool_use_id: id } : result),
  write: (result, origin) => writeAnthropic([result], () => origin).content[0],
};

const BLOCKS: ReadonlySet<unknown> = new Set(['tool_use', 'tool_result', 'thinking', 'redacted_thinking']);
const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);
