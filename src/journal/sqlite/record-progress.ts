import type { ToolResult } from '../../contract/call.js';
import type {
  BatchDecision,
  CallKey,
  Claimant,
  ConversationMessage,
  JournalNote,
  Worker,
} from '../../contract/journal.js';
import type { SqliteValue } from '../../platform/sqlite/sqlite.js';
import { endsClaim } from '../records/ends-claim.js';
import { batchIsUnknown, callIsUnknown } from '../records/journal-errors.js';
import { storeBlocks } from '../records/stored-content.js';
import { fromStoredText, toStoredText } from '../records/stored-text.js';
import { type LongText, storeLongText, toLongText } from './blobs.js';
import type { Operation } from './group-commit.js';
import type { JournalDatabase } from './journal-database.js';
import { mayClaim, noteSession } from './sessions.js';

const CLAIM = `
  INSERT INTO claims (call, worker, pid, process_started_at, started_at) SELECT ?1, ?2, ?3, ?4, ?5
  WHERE NOT EXISTS (SELECT 1 FROM results WHERE call = ?1)
  ON CONFLICT (call) DO NOTHING`;

export function recordClaim(key: CallKey, worker: Worker, at: number): Operation<boolean> {
  const workerId = toStoredText(worker.id);
  return {
    writes: true,
    run(database) {
      const call = database.numberOf(key);
      if (call === undefined || !mayClaim(database, call, worker)) return false;
      const values: [number, ...SqliteValue[]] = [call, workerId, worker.pid, worker.startedAt, at];
      if (!addClaim(database, key, values)) return false;
      if (worker.epoch !== undefined) noteSession(database, call, worker.epoch);
      // The claim has no columns for these.
      if (worker.startTicks !== undefined || worker.system !== undefined) findWorker(database, worker);
      return true;
    },
  };
}

function addClaim(
  database: JournalDatabase,
  key: CallKey,
  values: readonly [call: number, ...SqliteValue[]],
): boolean {
  const [call] = values;
  // A call that is only now added cannot have an answer from another process.
  if (database.isFresh(key)) return database.add('claims', call, values);
  if (database.prepared(CLAIM).run(...values) === 0) return false;
  database.chain('claims', call, values);
  return true;
}

export function recordResult(
  key: CallKey,
  result: ToolResult,
  at: number,
  claimant: Claimant,
): Operation<'recorded' | 'late' | 'claimed'> {
  const blobs = new Map<string, Uint8Array>();
  const { content } = result;
  const stored =
    content === undefined
      ? result
      : { ...result, content: storeBlocks(content, (hash, bytes) => blobs.set(hash, bytes)) };
  const text = toLongText(JSON.stringify(stored));
  return {
    writes: true,
    run(database) {
      const call = database.numberOf(key);
      if (call === undefined) throw callIsUnknown('record the result of', key);
      storeLongText(database, text);
      for (const [blob, bytes] of blobs) storeLongText(database, { inline: null, blob, bytes });
      const values = [call, text.inline, text.blob, at];
      // The statement itself compares the claim.
      if (!database.add('results', call, [...values, idOf(claimant, database, call)], values)) {
        const standing = readStanding(database, call);
        if (standing.isResult(values)) return 'recorded';
        if (!endsClaim(claimant, standing.worker)) return 'claimed';
        if (claimant !== 'queued') addNote(database, call, 'late_result', text, at);
        return 'late';
      }
      database.forget(key);
      return 'recorded';
    },
  };
}

/** Compares workers as the statement does; null means no worker. */
function idOf(claimant: Claimant | undefined, database: JournalDatabase, call: number): string | null {
  if (claimant === undefined) {
    const { worker } = database.prepared(CLAIMED_BY).get(call) ?? {};
    return typeof worker === 'string' ? worker : null;
  }
  return claimant === 'queued' ? null : toStoredText(claimant.id);
}

const CLAIMED_BY = 'SELECT worker FROM claims WHERE call = ?';
const STANDING = `
  SELECT k.worker, r.result, r.blob, r.finished_at
  FROM calls c LEFT JOIN claims k ON k.call = c.number LEFT JOIN results r ON r.call = c.number WHERE c.number = ?`;

interface Standing {
  /** The worker with the claim. */
  readonly worker: Pick<Worker, 'id'> | undefined;
  /** Whether the recorded result has these values. */
  isResult(values: readonly SqliteValue[]): boolean;
}

/** The claim and the result of a call, read only if a result could not be added. */
function readStanding(database: JournalDatabase, call: number): Standing {
  const { worker, result, blob, finished_at: at } = database.prepared(STANDING).get(call) ?? {};
  return {
    worker: typeof worker === 'string' ? { id: fromStoredText(worker) } : undefined,
    isResult: ([, inline, hash, finishedAt]) => at === finishedAt && result === inline && blob === hash,
  };
}

const STATE_OF_CALL = `
  SELECT EXISTS (SELECT 1 FROM results WHERE call = ?1) AS done, EXISTS (SELECT 1 FROM claims WHERE call = ?1) AS runs`;

/** Ends a queued call, or leaves a note for the worker of a running one. */
export function recordCancel(
  key: CallKey,
  result: ToolResult,
  at: number,
): Operation<'cancelled' | 'asked' | 'done'> {
  const finish = recordResult(key, result, at, 'queued');
  return {
    writes: true,
    run(database) {
      const call = database.numberOf(key);
      if (call === undefined) throw callIsUnknown('cancel', key);
      const { done, runs } = database.prepared(STATE_OF_CALL).get(call) ?? {};
      if (done === 1) return 'done';
      if (runs === 1) {
        addNote(database, call, 'cancel', toLongText('{}'), at);
        return 'asked';
      }
      finish.run(database);
      return 'cancelled';
    },
  };
}

export function recordNote(key: CallKey, note: JournalNote): Operation<void> {
  const { kind, at } = note;
  const text = toLongText(JSON.stringify(note.data));
  return {
    writes: true,
    run(database) {
      const call = database.numberOf(key);
      if (call === undefined) throw callIsUnknown('note a fact of', key);
      storeLongText(database, text);
      addNote(database, call, kind, text, at);
    },
  };
}

const NOTE = 'INSERT INTO notes (call, kind, data, blob, noted_at) VALUES (?, ?, ?, ?, ?) RETURNING number';

function addNote(
  database: JournalDatabase,
  call: number,
  kind: JournalNote['kind'],
  text: LongText,
  at: number,
): void {
  const values = [call, kind, text.inline, text.blob, at];
  const number = Number(database.prepared(NOTE).get(...values)?.number);
  database.chain('notes', number, [number, ...values]);
}

const FIND = 'SELECT number FROM workers WHERE id = ?';
const ADD = `
  INSERT INTO workers (id, pid, process_started_at, start_ticks, system) VALUES (?, ?, ?, ?, ?) RETURNING number`;

/** The number of a process, which is recorded at its first action. */
export function findWorker(database: JournalDatabase, worker: Worker): number {
  const known = database.numberOfWorker(worker.id);
  if (known !== undefined) return known;
  const id = toStoredText(worker.id);
  const number = numberOf(database.prepared(FIND).get(id)) ?? addWorker(database, id, worker);
  database.willHoldWorker(worker.id, number);
  return number;
}

function addWorker(database: JournalDatabase, id: string, worker: Worker): number {
  const { pid, startedAt, startTicks = null, system } = worker;
  const values = [id, pid, startedAt, startTicks, system === undefined ? null : toStoredText(system)];
  const number = Number(numberOf(database.prepared(ADD).get(...values)));
  database.chain('workers', number, [number, ...values]);
  return number;
}

function numberOf(row: { readonly number?: unknown } | undefined): number | undefined {
  return typeof row?.number === 'number' ? row.number : undefined;
}

const STATE_OF_BATCH = `
  SELECT b.number, d.kind,
    EXISTS (SELECT 1 FROM unfinished WHERE call > b.number AND call <= b.number + b.size) AS open
  FROM batches b LEFT JOIN decided d ON d.batch = b.number WHERE b.id = ?`;

/** Decides a batch that can still be decided. */
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

/** Adds a note to a batch; a long text must already be stored as a blob. */
export function addBatchNote(
  database: JournalDatabase,
  batch: number,
  kind: BatchDecision['kind'] | 'message' | 'origin' | 'placement',
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

/** Appends a message to a conversation. */
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
