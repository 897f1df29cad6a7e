import type {
  CallKey,
  CallRecord,
  Renewal,
  SessionWorker,
  Worker,
  WorkerOffer,
  WorkerSession,
} from '../../contract/journal.js';
import type { SqliteRow } from '../../platform/sqlite/sqlite.js';
import { callKey } from '../records/call-key.js';
import { toStoredText } from '../records/stored-text.js';
import type { Operation } from './group-commit.js';
import type { JournalDatabase } from './journal-database.js';
import { JournalRow } from './journal-row.js';
import { isOverQuota } from './placed-calls.js';
import { CALLS, toRecord } from './read-calls.js';

const LIVE = `
  SELECT offer FROM sessions WHERE worker = ?1 AND epoch = ?2 AND ended_at IS NULL`;

/** The fence: a worker with an epoch claims calls only in a session that is not over, and within the quotas. */
export function mayClaim(database: JournalDatabase, call: number, { id, epoch }: Worker): boolean {
  if (epoch === undefined) return true;
  const row = database.prepared(LIVE).get(toStoredText(id), epoch);
  if (row === undefined) return false;
  const session = new JournalRow(row);
  return !isOverQuota(database, call, session.json<WorkerOffer>(session.rawText('offer')).quotas);
}

/** Records in which session a call was claimed. */
export function noteSession(database: JournalDatabase, call: number, epoch: number): void {
  database.prepared('INSERT INTO session_claims (call, epoch) VALUES (?, ?)').run(call, epoch);
}

const BEAT = `
  UPDATE sessions SET beat = beat + 1, offer = ?3 WHERE worker = ?1 AND epoch = ?2 AND ended_at IS NULL RETURNING beat`;
const BEGIN = `
  INSERT INTO sessions (worker, epoch, beat, process, offer) SELECT ?1, ?2, 1, ?3, ?4
  WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE worker = ?1 AND epoch >= ?2)`;
const END_EARLIER = 'UPDATE sessions SET ended_at = ?3 WHERE worker = ?1 AND epoch < ?2 AND ended_at IS NULL';
const CANCELLED = `
  SELECT DISTINCT b.id AS batch_id, c.number - b.number - 1 AS position
  FROM unfinished u CROSS JOIN claims k ON k.call = u.call CROSS JOIN session_claims e ON e.call = u.call
  CROSS JOIN notes n ON n.call = u.call AND n.kind = 'cancel'
  JOIN calls c ON c.number = u.call JOIN batches b ON b.number = c.batch
  WHERE k.worker = ? AND e.epoch = ?`;

/** Begins a session, or continues it with one more beat. */
export function recordRenewal(
  worker: SessionWorker,
  at: number,
  offer: WorkerOffer = {},
): Operation<Renewal | undefined> {
  const id = toStoredText(worker.id);
  const { epoch } = worker;
  const [process, offered] = [JSON.stringify(worker), JSON.stringify(offer)];
  return {
    writes: true,
    run(database) {
      const row = database.prepared(BEAT).get(id, epoch, offered);
      if (row === undefined && database.prepared(BEGIN).run(id, epoch, process, offered) === 0)
        return undefined;
      if (row === undefined) database.prepared(END_EARLIER).run(id, epoch, at);
      return {
        beat: row === undefined ? 1 : Number(row.beat),
        cancelled: readCancelled(database, id, epoch),
      };
    },
  };
}

function readCancelled(database: JournalDatabase, id: string, epoch: number): readonly CallKey[] {
  return database
    .prepared(CANCELLED)
    .all(id, epoch)
    .map((values) => new JournalRow(values))
    .map((row) => callKey(row.text('batch_id'), row.number('position')));
}

const STATE = `
  SELECT beat, ended_at, NOT EXISTS (SELECT 1 FROM sessions WHERE worker = ?1 AND epoch > ?2) AS is_last
  FROM sessions WHERE worker = ?1 AND epoch = ?2`;
const END = 'UPDATE sessions SET ended_at = ?3 WHERE worker = ?1 AND epoch = ?2';

// A queued call that was accepted by the worker is dead once its last session is over.
const HOLDS = `
  c.number IN (SELECT call FROM unfinished) AND (
    (k.worker = s.worker AND e.epoch = s.epoch) OR
    (k.call IS NULL AND a.id = s.worker AND NOT EXISTS (
      SELECT 1 FROM sessions l WHERE l.worker = s.worker AND l.epoch > s.epoch)))`;
const LEFT = `${CALLS} JOIN sessions s ON s.worker = ? AND s.epoch = ? WHERE ${HOLDS} ORDER BY c.number`;

/** Ends the session if its beat is the given one. */
export function reapSession(
  worker: Pick<SessionWorker, 'id' | 'epoch'>,
  beat: number,
  at: number,
): Operation<readonly CallRecord[] | undefined> {
  const id = toStoredText(worker.id);
  return {
    writes: true,
    run(database) {
      const state = database.prepared(STATE).get(id, worker.epoch);
      if (state === undefined) return undefined;
      if (state.ended_at === null) {
        if (state.beat !== beat) return undefined;
        database.prepared(END).run(id, worker.epoch, at);
      }
      return database
        .prepared(LEFT)
        .all(id, worker.epoch)
        .map((row) => toRecord(database, row));
    },
  };
}

// Evaluated once for a statement, however many sessions have ended.
const HOLDERS = `
  SELECT k.worker, e.epoch FROM unfinished u CROSS JOIN claims k ON k.call = u.call
  CROSS JOIN session_claims e ON e.call = u.call
  UNION
  SELECT l.worker, max(l.epoch) FROM (
    SELECT DISTINCT b.worker FROM unfinished u CROSS JOIN calls c ON c.number = u.call
    CROSS JOIN batches b ON b.number = c.batch WHERE u.call NOT IN (SELECT call FROM claims)
  ) AS o CROSS JOIN workers a ON a.number = o.worker CROSS JOIN sessions l ON l.worker = a.id GROUP BY l.worker`;
const SESSIONS = `
  SELECT s.process, s.beat, s.offer, s.ended_at FROM sessions s
  WHERE s.ended_at IS NULL OR (s.worker, s.epoch) IN (${HOLDERS})
  ORDER BY s.worker, s.epoch`;

/** The sessions that are not over, and those that are and have unfinished calls. */
export function readSessions(database: JournalDatabase): readonly WorkerSession[] {
  return database.prepared(SESSIONS).all().map(toSession);
}

const REMOVE_ENDED = `
  DELETE FROM sessions AS s WHERE s.ended_at < ? AND (s.worker, s.epoch) NOT IN (${HOLDERS})`;

/** Removes the sessions that ended before a time and have no calls left. */
export function removeSessions(database: JournalDatabase, before: number): void {
  database.prepared(REMOVE_ENDED).run(before);
}

function toSession(values: SqliteRow): WorkerSession {
  const row = new JournalRow(values);
  return {
    ...row.json<WorkerOffer>(row.rawText('offer')),
    worker: row.json<SessionWorker>(row.rawText('process')),
    beat: row.number('beat'),
    ...(row.has('ended_at') ? { endedAt: row.number('ended_at') } : {}),
  };
}
