import type {
  BatchDecision,
  BatchFilter,
  BatchRecord,
  ConversationEntry,
  DecisionKind,
  Placement,
} from '../../contract/journal.js';
import type { SqliteRow, SqliteValue } from '../../platform/sqlite/sqlite.js';
import { toStoredText } from '../records/stored-text.js';
import type { JournalDatabase } from './journal-database.js';
import { JournalRow, readWorker } from './journal-row.js';

export const DECISIONS: readonly DecisionKind[] = ['wait', 'resume', 'discard'];

const BATCHES = `
  SELECT b.*, d.kind AS decision, w.id AS worker_id, w.pid AS worker_pid,
    w.process_started_at AS worker_process_started_at, w.start_ticks AS worker_start_ticks, w.system AS worker_system
  FROM batches b LEFT JOIN workers w ON w.number = b.worker LEFT JOIN decided d ON d.batch = b.number`;

export function readBatches(database: JournalDatabase, filter: BatchFilter = {}): readonly BatchRecord[] {
  const { conversation, waiting, prefix, before, limit } = filter;
  const conditions: string[] = [];
  const values: SqliteValue[] = [];
  if (conversation !== undefined) {
    conditions.push('b.conversation = ?');
    values.push(toStoredText(conversation));
  }
  if (waiting === true) conditions.push("b.number IN (SELECT batch FROM decided WHERE kind = 'wait')");
  if (prefix !== undefined) {
    // A range, so that the index over ids finds them.
    const first = toStoredText(prefix);
    conditions.push('b.id >= ? AND b.id < ?');
    values.push(first, `${first}\u{10FFFF}`);
  }
  if (before !== undefined) {
    conditions.push('b.number < (SELECT number FROM batches WHERE id = ?)');
    values.push(toStoredText(before));
  }
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  const rows = database
    .prepared(`${BATCHES}${where} ORDER BY ${prefix === undefined ? '' : '+'}b.number DESC LIMIT ?`)
    .all(...values, limit ?? -1);
  return rows.map((row) => toBatch(database, row));
}

export function readBatchRecord(database: JournalDatabase, id: string): BatchRecord | undefined {
  const row = database.prepared(`${BATCHES} WHERE b.id = ?`).get(toStoredText(id));
  return row === undefined ? undefined : toBatch(database, row);
}

const DECISIONS_OF_BATCH = `
  SELECT n.kind, n.data, n.blob, n.noted_at, x.content FROM batch_notes n JOIN batches b ON b.number = n.batch
  LEFT JOIN blobs x ON x.hash = n.blob
  WHERE b.id = ? AND n.kind IN ('wait', 'resume', 'discard') ORDER BY n.number`;

export function readDecisions(database: JournalDatabase, batchId: string): readonly BatchDecision[] {
  const rows = database.prepared(DECISIONS_OF_BATCH).all(toStoredText(batchId));
  return rows.map((values) => {
    const row = new JournalRow(values);
    return {
      kind: row.oneOf('kind', DECISIONS),
      at: row.number('noted_at'),
      data: row.json(row.longText('data')),
    };
  });
}

const PLACEMENT = `
  SELECT n.data, n.blob, x.content FROM batch_notes n LEFT JOIN blobs x ON x.hash = n.blob
  WHERE n.batch = ? AND n.kind = 'placement'`;

/** @param batch the batch's number */
export function readPlacement(database: JournalDatabase, batch: number): Placement | undefined {
  const values = database.prepared(PLACEMENT).get(batch);
  if (values === undefined) return undefined;
  const row = new JournalRow(values);
  return row.json(row.longText('data'));
}

const MESSAGES = `
  SELECT m.before_batch, m.role, m.content AS data, m.blob, m.sent_at, x.content FROM messages m
  LEFT JOIN blobs x ON x.hash = m.blob WHERE m.conversation = ? ORDER BY m.number`;
const BATCHES_OF_CONVERSATION = `${BATCHES} WHERE b.conversation = ? ORDER BY b.number`;

export function readHistory(database: JournalDatabase, conversation: string): readonly ConversationEntry[] {
  const name = toStoredText(conversation);
  const messages = database.prepared(MESSAGES).all(name).map(toMessage);
  const batches = database.prepared(BATCHES_OF_CONVERSATION).all(name);
  const entries: ConversationEntry[] = [];
  let next = 0;
  const addMessages = (until: number): void => {
    for (; next < messages.length; next++) {
      const message = messages[next];
      if (message === undefined || message.before > until) return;
      entries.push(message.entry);
    }
  };
  for (const row of batches) {
    addMessages(new JournalRow(row).number('number'));
    entries.push({ kind: 'batch', ...toBatch(database, row) });
  }
  addMessages(Number.POSITIVE_INFINITY);
  return entries;
}

function toMessage(values: SqliteRow): { readonly before: number; readonly entry: ConversationEntry } {
  const row = new JournalRow(values);
  return {
    before: row.number('before_batch'),
    entry: {
      kind: 'message',
      role: row.text('role'),
      content: row.json(row.longText('data')),
      at: row.number('sent_at'),
    },
  };
}

const FACTS_OF_BATCH = `
  SELECT n.kind, n.data, n.blob, x.content FROM batch_notes n LEFT JOIN blobs x ON x.hash = n.blob
  WHERE n.batch = ? AND n.kind IN ('message', 'origin', 'placement')`;

function toBatch(database: JournalDatabase, values: SqliteRow): BatchRecord {
  const row = new JournalRow(values);
  const worker = readWorker(row, 'worker');
  const facts: Pick<BatchRecord, 'message' | 'origin' | 'placement'> = Object.fromEntries(
    database
      .prepared(FACTS_OF_BATCH)
      .all(row.number('number'))
      .map((fact) => new JournalRow(fact))
      .map((fact) => [fact.rawText('kind'), fact.json(fact.longText('data'))]),
  );
  return {
    id: row.text('id'),
    conversation: row.text('conversation'),
    attach: row.number('attach') === 1,
    at: row.number('accepted_at'),
    size: row.number('size'),
    ...(worker === undefined ? {} : { worker }),
    ...facts,
    ...(row.has('decision') ? { decision: row.oneOf('decision', DECISIONS) } : {}),
  };
}
