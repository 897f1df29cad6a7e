import type {
  BatchDecision,
  BatchFilter,
  BatchRecord,
  CallRecord,
  ConversationEntry,
  ConversationFact,
  JournalNote,
} from '../contract/journal.js';
import { journalFailure } from './records/journal-errors.js';
import { toStoredText } from './records/stored-text.js';
import { readKept } from './sqlite/blobs.js';
import { readFacts } from './sqlite/conversation-facts.js';
import type { JournalLoss } from './sqlite/journal-anchor.js';
import type { JournalDatabase } from './sqlite/journal-database.js';
import { JournalRow } from './sqlite/journal-row.js';
import { openJournalLook, openJournalReader } from './sqlite/open-journal-database.js';
import { readBatches, readBatchRecord, readDecisions, readHistory } from './sqlite/read-batches.js';
import { readBatch, readNotes } from './sqlite/read-calls.js';

/** A read-only view of a journal's file as it was when it was opened. */
export interface JournalArchive {
  /** In the order of their first entry. */
  conversations(): readonly string[];
  /** The messages and batches of a conversation, in order. */
  history(conversation: string): readonly ConversationEntry[];
  /** The facts of a conversation, one per key. */
  facts(conversation: string): readonly ConversationFact[];
  batches(filter?: BatchFilter): readonly BatchRecord[];
  batch(id: string): BatchRecord | undefined;
  /** The calls of a batch, in order. A delivery that attached is represented by the call it attached to. */
  calls(batchId: string): readonly CallRecord[];
  decisions(batchId: string): readonly BatchDecision[];
  notes(call: CallRecord): readonly JournalNote[];
  /** The bytes stored under this hash, such as the old content of a file. */
  kept(hash: string): Uint8Array | undefined;
  /** The batches that delivered a call with this id, newest first. */
  batchesOfCall(callId: string): readonly string[];
  close(): void;
}

/**
 * @param onLoss called if the file does not contain everything that was recorded in it.
 * @throws ToolError `journal_unavailable`, also from every method, if the file cannot be read or is not a
 * journal.
 */
export function openArchive(path: string, onLoss?: (loss: JournalLoss) => void): JournalArchive {
  return archiveOf(path, () => openJournalReader(path, onLoss));
}

/** For frequent reads: writes nothing, waits for no disk, and reports no loss. @throws as `openArchive` */
export function glanceAtArchive(path: string): JournalArchive {
  return archiveOf(path, () => openJournalLook(path).database);
}

function archiveOf(path: string, open: () => JournalDatabase): JournalArchive {
  const guarded = <T>(read: () => T): T => {
    try {
      return read();
    } catch (error) {
      throw journalFailure(path, error);
    }
  };
  const database = guarded(open);
  // One transaction, so concurrent writes are seen whole or not at all, and writers do not wait.
  guarded(() => database.prepared('BEGIN').run());
  return {
    conversations: () => guarded(() => readConversations(database)),
    history: (conversation) => guarded(() => readHistory(database, conversation)),
    facts: (conversation) => guarded(() => readFacts(database, conversation).facts),
    batches: (filter) => guarded(() => readBatches(database, filter)),
    batch: (id) => guarded(() => readBatchRecord(database, id)),
    calls: (batchId) => guarded(() => readBatch(database, batchId)),
    decisions: (batchId) => guarded(() => readDecisions(database, batchId)),
    notes: ({ key }) => guarded(() => readNotes(database, key)),
    kept: (hash) => guarded(() => readKept(hash).run(database)),
    batchesOfCall: (callId) => guarded(() => readBatchesOfCall(database, callId)),
    close() {
      database.rollback();
      database.close();
    },
  };
}

const CONVERSATIONS = `
  SELECT conversation, min(at) AS began FROM (
    SELECT conversation, number AS at FROM batches UNION ALL SELECT conversation, before_batch FROM messages
  ) GROUP BY conversation ORDER BY began`;

function readConversations(database: JournalDatabase): readonly string[] {
  return database
    .prepared(CONVERSATIONS)
    .all()
    .map((row) => new JournalRow(row).text('conversation'));
}

const BATCHES_OF_CALL = `
  SELECT DISTINCT b.id, b.number FROM calls c JOIN batches b ON b.number = c.batch
  WHERE c.call_id = ? ORDER BY b.number DESC`;

function readBatchesOfCall(database: JournalDatabase, callId: string): readonly string[] {
  return database
    .prepared(BATCHES_OF_CALL)
    .all(toStoredText(callId))
    .map((row) => new JournalRow(row).text('id'));
}

/**
 * The conversations in a journal's file with a call of this id, newest first.
 *
 * @throws ToolError `journal_unavailable` if the file cannot be read or is not a journal.
 */
export function findConversations(path: string, callId: string): readonly string[] {
  try {
    const database = openJournalReader(path);
    try {
      const rows = database
        .prepared(
          'SELECT conversation FROM calls WHERE call_id = ? GROUP BY conversation ORDER BY max(number) DESC',
        )
        .all(toStoredText(callId));
      return rows.map((row) => new JournalRow(row).text('conversation'));
    } finally {
      database.close();
    }
  } catch (error) {
    throw journalFailure(path, error);
  }
}
