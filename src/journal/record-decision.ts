import type { BatchDecision, ConversationMessage } from '../contract/journal.js';
import type { Operation } from './group-commit.js';
import type { JournalDatabase } from './journal-database.js';
import { batchIsUnknown } from './journal-unavailable.js';
import { type LongText, storeLongText, toLongText } from './long-text.js';
import { toStoredText } from './stored-text.js';

const STATE_OF_BATCH = `
  SELECT b.number, d.kind,
    EXISTS (SELECT 1 FROM unfinished WHERE call > b.number AND call <= b.number + b.size) AS open
  FROM batches b LEFT JOIN decided d ON d.batch = b.number WHERE b.id = ?`;

/** Decides about a batch, if there is something to decide. */
export function recordDecision(batchId: string, decision: BatchDecision): Operation<boolean> {
  const { kind, at } = decision;
  const text = toLongText(JSON.stringify(decision.data));
  const id = toStoredText(batchId);
  return {
    writes: true,
    run(database) {
      const batch = database.prepared(STATE_OF_BATCH).get(id);
      if (typeof batch?.number !== 'number') throw batchIsUnknown('decide about', batchId);
      const waits = batch.kind === 'wait';
      if (kind === 'wait' ? waits || batch.open !== 1 : !waits) return false;
      storeLongText(database, text);
      addBatchNote(database, batch.number, kind, text, at);
      return true;
    },
  };
}

const ADD_NOTE = `
  INSERT INTO batch_notes (batch, kind, data, blob, noted_at) VALUES (?, ?, ?, ?, ?) RETURNING number`;

/** What is known of a batch as a whole; a long text must be stored already. */
export function addBatchNote(
  database: JournalDatabase,
  batch: number,
  kind: BatchDecision['kind'] | 'message' | 'origin',
  text: LongText,
  at: number,
): void {
  const values = [batch, kind, text.inline, text.blob, at];
  const number = Number(database.prepared(ADD_NOTE).get(...values)?.number);
  database.chain('batch_notes', number, [number, ...values]);
}

const ADD_MESSAGE = `
  INSERT INTO messages (conversation, before_batch, role, content, blob, sent_at) VALUES (?, ?, ?, ?, ?, ?)
  RETURNING number`;

/** Adds a message behind everything that the conversation holds. */
export function recordMessage(conversation: string, message: ConversationMessage): Operation<void> {
  const text = toLongText(JSON.stringify(message.content));
  const name = toStoredText(conversation);
  const role = toStoredText(message.role);
  return {
    writes: true,
    run(database) {
      storeLongText(database, text);
      const values = [name, database.nextNumber(), role, text.inline, text.blob, message.at];
      const number = Number(database.prepared(ADD_MESSAGE).get(...values)?.number);
      database.chain('messages', number, [number, ...values]);
    },
  };
}
