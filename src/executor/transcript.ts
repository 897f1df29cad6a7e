import type { ToolCall, ToolResult } from '../contract/call.js';
import type { Transcript, TranscriptEntry } from '../contract/conversation.js';
import type { CallRecord, Journal } from '../contract/journal.js';
import type { JsonValue } from '../contract/json.js';
import type { ExecutorSettings } from './call/settings.js';
import { asDecided } from './record/attach.js';

/** The transcript of a conversation, stored among the messages of its journal. */
export function transcriptOf(
  conversation: string,
  { journal, clock, hooks, agent }: Pick<ExecutorSettings, 'journal' | 'clock' | 'hooks' | 'agent'>,
): Transcript {
  const endTurn: Transcript['endTurn'] = async (turn, signal) =>
    hooks.stop?.(turn, { conversation, agent, signal });
  if (journal === null) return { ...NO_MESSAGES, endTurn };
  return {
    endTurn,
    async read(): Promise<readonly TranscriptEntry[]> {
      const entries = await journal.history(conversation);
      return entries.flatMap((entry) => {
        if (entry.kind !== 'message') return [];
        const { role, content } = entry;
        return [{ role, content }];
      });
    },
    async add(role: string, content: JsonValue): Promise<void> {
      await journal.message(conversation, { role, content, at: clock.now() });
    },
    async callIds() {
      const entries = await journal.history(conversation);
      const batches = entries.flatMap((entry) => (entry.kind === 'batch' ? [entry.id] : []));
      const records = await Promise.all(batches.map((id) => journal.batch(id)));
      return records.flat().map(({ callId }) => callId);
    },
    async answers(batchId, calls) {
      const records = await journal.batch(batchId);
      return Promise.all(calls.map((call, index) => answerTo(call, records[index], conversation, journal)));
    },
  };
}

const NO_MESSAGES: Omit<Transcript, 'endTurn'> = {
  read: async () => [],
  add: async () => {},
  callIds: async () => [],
  answers: async (_, calls) => calls.map(() => undefined),
};

async function answerTo(
  call: ToolCall,
  inBatch: CallRecord | undefined,
  conversation: string,
  journal: Journal,
): Promise<ToolResult | undefined> {
  const isIt = inBatch?.callId === call.id && inBatch.result !== undefined;
  // The answer of a call that was delivered before is in the batch of its first delivery.
  const record = isIt ? inBatch : await journal.find(conversation, call.id, call.turn);
  if (record?.result === undefined) return undefined;
  return asDecided(record, record.result);
}
