import type { ToolResult } from '../contract/call.js';
import type { CallKey, JournalNote, Worker } from '../contract/journal.js';
import type { SqliteValue } from '../platform/sqlite.js';
import type { Operation } from './group-commit.js';
import type { JournalDatabase } from './journal-database.js';
import { callIsUnknown } from './journal-unavailable.js';
import { type LongText, storeLongText, toLongText } from './long-text.js';
import { findWorker } from './record-worker.js';
import { storeBlocks } from './stored-content.js';
import { toStoredText } from './stored-text.js';

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
      if (call === undefined) return false;
      const values: [number, ...SqliteValue[]] = [call, workerId, worker.pid, worker.startedAt, at];
      if (!addClaim(database, key, values)) return false;
      // What the claim itself has no place for.
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
  // Nobody else can have answered a call that is added only now.
  if (database.isFresh(key)) return database.add('claims', call, values);
  if (database.prepared(CLAIM).run(...values) === 0) return false;
  database.chain('claims', call, values);
  return true;
}

export function recordResult(key: CallKey, result: ToolResult, at: number): Operation<'recorded' | 'late'> {
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
      if (!database.add('results', call, values)) {
        addNote(database, call, 'late_result', text, at);
        return 'late';
      }
      database.forget(key);
      return 'recorded';
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
