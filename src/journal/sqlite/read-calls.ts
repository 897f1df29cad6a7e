import type { ToolResult } from '../../contract/call.js';
import {
  type CallKey,
  type CallPage,
  type CallRecord,
  type JournalNote,
  NOTE_KINDS,
} from '../../contract/journal.js';
import type { SqliteRow, SqliteValue } from '../../platform/sqlite/sqlite.js';
import { callKey, parseCallKey } from '../records/call-key.js';
import { settledBy } from '../records/settled.js';
import { restoreResult } from '../records/stored-content.js';
import { restoreEffects } from '../records/stored-effects.js';
import { toStoredText, toStoredTurn } from '../records/stored-text.js';
import { readKept } from './blobs.js';
import type { JournalDatabase } from './journal-database.js';
import { JournalRow, readWorker } from './journal-row.js';
import { DECISIONS, readDecisions, readPlacement } from './read-batches.js';

const COLUMNS = `
  SELECT c.*, c.number - b.number - 1 AS position, b.id AS batch_id, b.attach, b.accepted_at,
    k.worker AS worker_id, k.pid AS worker_pid, k.process_started_at AS worker_process_started_at, k.started_at,
    w.start_ticks AS worker_start_ticks, w.system AS worker_system, e.epoch AS worker_epoch,
    a.id AS acceptor_id, a.pid AS acceptor_pid, a.process_started_at AS acceptor_process_started_at,
    a.start_ticks AS acceptor_start_ticks, a.system AS acceptor_system,
    d.kind AS decision, r.result, r.blob, r.finished_at, x.content`;
const JOINS = `
  JOIN batches b ON b.number = c.batch
  LEFT JOIN workers a ON a.number = b.worker
  LEFT JOIN claims k ON k.call = c.number
  LEFT JOIN workers w ON w.id = k.worker
  LEFT JOIN session_claims e ON e.call = c.number
  LEFT JOIN decided d ON d.batch = c.batch
  LEFT JOIN results r ON r.call = c.number
  LEFT JOIN blobs x ON x.hash = r.blob`;
/** Calls with all their later records. */
export const CALLS = `${COLUMNS} FROM calls c ${JOINS}`;

/** The call with an existing number. */
export function readCall(database: JournalDatabase, number: number): CallRecord {
  return toRecord(database, database.prepared(`${CALLS} WHERE c.number = ?`).get(number) ?? {});
}

export function findByKey(database: JournalDatabase, key: CallKey): CallRecord | undefined {
  const parsed = parseCallKey(key);
  if (parsed === undefined) return undefined;
  const row = database
    .prepared(`${CALLS} WHERE b.id = ? AND c.number = b.number + 1 + ?`)
    .get(toStoredText(parsed.batchId), parsed.index);
  return row === undefined ? undefined : toRecord(database, row);
}

export function findFirstDelivery(
  database: JournalDatabase,
  conversation: string | undefined,
  callId: string,
  turn?: string,
): CallRecord | undefined {
  const stored = turn === undefined ? null : toStoredTurn(turn);
  if (conversation === undefined) return findAnywhere(database, toStoredText(callId), stored);
  const holder = findNameHolder(database, toStoredText(conversation), toStoredText(callId), stored, 'any');
  return holder === undefined ? undefined : readCall(database, holder.number);
}

const ANYWHERE = `
  SELECT c.number FROM calls c LEFT JOIN claims k ON k.call = c.number
  WHERE c.call_id = ?1 AND (?2 IS NULL OR c.turn = ?2) ORDER BY k.call IS NULL, c.number DESC LIMIT 1`;

function findAnywhere(
  database: JournalDatabase,
  callId: string,
  turn: string | null,
): CallRecord | undefined {
  const row = database.prepared(ANYWHERE).get(callId, turn);
  return row === undefined ? undefined : readCall(database, new JournalRow(row).number('number'));
}

/** The join order matters: from the few calls of a batch to their other records. */
const CALLS_OF_BATCH = `${COLUMNS}
  FROM (
    SELECT c.number, c.number AS call FROM calls c JOIN batches b
      ON c.number > b.number AND c.number <= b.number + b.size
    WHERE b.id = ?1
    UNION ALL
    SELECT p.number, p.call FROM repeats p JOIN batches b ON p.number > b.number AND p.number <= b.number + b.size
    WHERE b.id = ?1
  ) place CROSS JOIN calls c ON c.number = place.call ${JOINS}
  ORDER BY place.number`;

/** The calls of a batch, in order. A delivery that attached is represented by the call it attached to. */
export function readBatch(database: JournalDatabase, id: string): readonly CallRecord[] {
  const rows = database.prepared(CALLS_OF_BATCH).all(toStoredText(id));
  return rows.map((row) => toRecord(database, row));
}

const UNFINISHED = `${CALLS} WHERE c.number IN (SELECT call FROM unfinished)`;
const BEHIND = ' AND c.number > (SELECT number FROM batches WHERE id = ?) + 1 + ?';

export function readUnfinished(
  database: JournalDatabase,
  conversation?: string,
  page?: CallPage,
): readonly CallRecord[] {
  const after = page?.after === undefined ? undefined : parseCallKey(page.after);
  const values: SqliteValue[] = [];
  let sql = UNFINISHED;
  if (conversation !== undefined) {
    sql += ' AND c.conversation = ?';
    values.push(toStoredText(conversation));
  }
  if (after !== undefined) {
    sql += BEHIND;
    values.push(toStoredText(after.batchId), after.index);
  }
  return database
    .prepared(`${sql} ORDER BY c.number LIMIT ?`)
    .all(...values, page?.limit ?? -1)
    .map((row) => toRecord(database, row));
}

const NOTES = `
  SELECT n.kind, n.data, n.blob, n.noted_at, x.content FROM notes n
  JOIN calls c ON c.number = n.call JOIN batches b ON b.number = c.batch
  LEFT JOIN blobs x ON x.hash = n.blob
  WHERE b.id = ? AND c.number = b.number + 1 + ? ORDER BY n.number`;

export function readNotes(database: JournalDatabase, key: CallKey): readonly JournalNote[] {
  const parsed = parseCallKey(key);
  if (parsed === undefined) return [];
  const rows = database.prepared(NOTES).all(toStoredText(parsed.batchId), parsed.index);
  return rows.map(toNote);
}

function toNote(values: SqliteRow): JournalNote {
  const row = new JournalRow(values);
  const kind: JournalNote['kind'] = row.oneOf('kind', NOTE_KINDS);
  return { kind, data: row.json(row.longText('data')), at: row.number('noted_at') };
}

export function toRecord(database: JournalDatabase, values: SqliteRow): CallRecord {
  const row = new JournalRow(values);
  const worker = readWorker(row, 'worker');
  const acceptedBy = readWorker(row, 'acceptor');
  const done = row.has('finished_at');
  const position = row.number('position');
  const batchId = row.text('batch_id');
  const turn = row.has('turn') ? row.json<string | null>(row.rawText('turn')) : undefined;
  const callId = row.text('call_id');
  const decision = row.has('decision') ? row.oneOf('decision', DECISIONS) : undefined;
  const result = done ? readResult(database, row) : undefined;
  // Few calls have an unknown outcome; only those need another look.
  const isUnknown = decision === 'resume' && result?.error?.code === 'outcome_unknown';
  const settled = isUnknown ? settledBy(readDecisions(database, batchId).at(-1), callId, result) : {};
  // A batch that a worker will run later has none.
  const placement = acceptedBy === undefined ? readPlacement(database, row.number('batch')) : undefined;
  return {
    callId,
    ...(turn === undefined ? {} : { madeUp: true }),
    ...(typeof turn === 'string' ? { turn } : {}),
    toolName: row.text('tool_name'),
    args: row.json(row.rawText('args')),
    ...restoreEffects(row.json(row.rawText('effects'))),
    disposition: row.oneOf('disposition', ['execute_now', 'requires_confirmation', 'pre_resolved']),
    reason: row.text('reason'),
    key: callKey(batchId, position),
    batchId,
    index: position,
    conversation: row.text('conversation'),
    ...(row.number('attach') === 1 ? { attach: true } : {}),
    state: done ? 'done' : worker === undefined ? 'queued' : 'running',
    ...(acceptedBy === undefined ? {} : { acceptedBy }),
    ...(placement === undefined ? {} : { placement }),
    ...(decision === undefined ? {} : { decision }),
    ...settled,
    acceptedAt: row.number('accepted_at'),
    ...(worker === undefined ? {} : { worker, startedAt: row.number('started_at') }),
    ...(result === undefined ? {} : { result, finishedAt: row.number('finished_at') }),
  };
}

function readResult(database: JournalDatabase, row: JournalRow): ToolResult {
  return restoreResult(row.json(row.longText('result')), (hash) => readKept(hash).run(database));
}

/** The delivery that a call's identity names. */
interface NameHolder {
  readonly number: number;
  readonly toolName: string;
  /** Null: the conversation has no name, so nothing attaches. */
  readonly argsHash: string | null;
  /** Its answer is not final: the next delivery of the call is evaluated again. */
  readonly isOpen: boolean;
}

/** Deliveries that attached have no row. */
const DELIVERIES = `
  SELECT c.number, c.tool_name, c.args_hash, 
    (json_extract(r.result, '$.error.code') = 'approval_unavailable' OR (
      json_extract(r.result, '$.error.code') = 'journal_unavailable' AND
      json_extract(r.result, '$.error.details.executed') = 'no')) AS open
  FROM calls c LEFT JOIN results r ON r.call = c.number
  WHERE c.conversation = ? AND c.call_id = ? AND c.turn IS ?`;
const ANY = `${DELIVERIES} ORDER BY c.number`;
const ATTACHABLE = `${DELIVERIES} AND c.args_hash IS NOT NULL ORDER BY c.number`;

/**
 * The first delivery; if that was answered before the person decided, the next delivery of the same call.
 * @param conversation @param callId @param turn in stored form.
 */
export function findNameHolder(
  database: JournalDatabase,
  conversation: string,
  callId: string,
  turn: string | null,
  among: 'any' | 'attachable',
): NameHolder | undefined {
  const rows = database.prepared(among === 'any' ? ANY : ATTACHABLE).all(conversation, callId, turn);
  let holder: NameHolder | undefined;
  for (const values of rows) {
    const row = new JournalRow(values);
    const next: NameHolder = {
      number: row.number('number'),
      toolName: row.rawText('tool_name'),
      argsHash: row.has('args_hash') ? row.rawText('args_hash') : null,
      isOpen: row.has('open') && row.number('open') === 1,
    };
    if (holder === undefined || (holder.isOpen && isSameCall(holder, next))) holder = next;
  }
  return holder;
}

export function isSameCall(
  one: Pick<NameHolder, 'toolName' | 'argsHash'>,
  other: Pick<NameHolder, 'toolName' | 'argsHash'>,
): boolean {
  return one.argsHash !== null && one.argsHash === other.argsHash && one.toolName === other.toolName;
}
