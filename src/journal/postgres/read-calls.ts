import type { CallKey, CallRecord, JournalNote, Worker } from '../../contract/journal.js';
import { callKey } from '../records/call-key.js';
import { settledBy } from '../records/settled.js';
import { contentHashes } from '../records/stored-content.js';
import { restoreEffects } from '../records/stored-effects.js';
import { fromStoredText } from '../records/stored-text.js';
import type { Connection } from './connections.js';
import { readContents } from './large-contents.js';
import { fromStoredResult, readRecord } from './long-results.js';
import { readDecisions } from './read-batches.js';

/** A call with the facts of its batch. Texts are in stored form. */
export interface CallRow {
  readonly batch_id: string;
  readonly position: number;
  readonly conversation: string;
  readonly call_id: string;
  readonly turn: string | null;
  readonly tool_name: string;
  readonly args: string;
  readonly effects: string;
  readonly disposition: CallRecord['disposition'];
  readonly reason: string;
  readonly worker: string | null;
  readonly started_at: number | null;
  readonly result: string | null;
  readonly finished_at: number | null;
  readonly attach: boolean;
  readonly accepted_at: number;
  readonly accepted_by: string | null;
  readonly placement: string | null;
  readonly decision: NonNullable<CallRecord['decision']> | null;
}

/** Calls with the facts of their batches. The first value is always the tenant. `OFFSET 0`: see `schema-reads.ts`. */
export const CALLS = `
  SELECT c.batch_id, c.position, c.conversation, c.call_id, c.turn, c.tool_name, c.args, c.effects, c.disposition, c.reason,
    c.worker, c.started_at, c.result, c.finished_at, b.attach, b.accepted_at, b.worker AS accepted_by, b.placement, b.decision
  FROM {s}.calls c
  CROSS JOIN LATERAL (SELECT x.* FROM {s}.batches x WHERE x.tenant = c.tenant AND x.id = c.batch_id OFFSET 0) AS b`;

/** Reads calls. @param rest the end of the query after `CALLS`; its first value is the tenant */
export function readCalls(
  connection: Connection,
  rest: string,
  values: readonly [tenant: string, ...unknown[]],
): Promise<readonly CallRecord[]> {
  return queryCalls(connection, `${CALLS} ${rest}`, values);
}

/** The same with a complete query. */
export async function queryCalls(
  connection: Connection,
  text: string,
  values: readonly [tenant: string, ...unknown[]],
): Promise<readonly CallRecord[]> {
  const { rows } = await connection.query<CallRow>(text, values);
  return toRecords(connection, values[0], rows);
}

/** A call as identified in its row. */
export interface CallPlace {
  /** In stored form. */
  readonly batch: string;
  readonly position: number;
}

/** The records of existing calls by their keys. */
export async function readByPlaces(
  connection: Connection,
  tenant: string,
  places: readonly CallPlace[],
): Promise<ReadonlyMap<CallKey, CallRecord>> {
  if (places.length === 0) return new Map();
  const records = await queryCalls(connection, 'SELECT * FROM {s}.calls_at_1($1, $2, $3)', [
    tenant,
    places.map(({ batch }) => batch),
    places.map(({ position }) => position),
  ]);
  return new Map(records.map((record) => [record.key, record]));
}

/** The delivery that an identity names. */
export const HOLDER = `
  SELECT r.* FROM {s}.holder_1($1, $2, $3, $4, false) AS h
  CROSS JOIN LATERAL {s}.calls_at_1($1, ARRAY[h.batch_id], ARRAY[h.position]) AS r`;
/** The end of a query after `CALLS`: the delivery that a call id refers to. */
export const ANYWHERE = `
  WHERE c.tenant = $1 AND c.call_id = $2 AND ($3::text IS NULL OR c.turn = $3)
  ORDER BY c.worker_id IS NULL, c.number DESC LIMIT 1`;
export const UNFINISHED = 'SELECT * FROM {s}.unfinished_1($1, $2, $3, $4, $5)';
/** Calls that a batch may have to wait for. */
export const WAITING = 'SELECT * FROM {s}.waiting_1($1, $2)';

/** The calls of a batch, in order. A delivery that attached is represented by the call it attached to. */
export function readBatch(
  connection: Connection,
  tenant: string,
  batch: string,
): Promise<readonly CallRecord[]> {
  return queryCalls(connection, 'SELECT * FROM {s}.delivered_1($1, $2)', [tenant, batch]);
}

async function toRecords(
  connection: Connection,
  tenant: string,
  rows: readonly CallRow[],
): Promise<readonly CallRecord[]> {
  const hashes = new Set(rows.flatMap(({ result }) => (result === null ? [] : contentHashes(result))));
  const contents = await readContents(connection, tenant, [...hashes]);
  const records: CallRecord[] = [];
  for (const row of rows) records.push(await toRecord(connection, tenant, row, contents));
  return records;
}

async function toRecord(
  connection: Connection,
  tenant: string,
  row: CallRow,
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<CallRecord> {
  const turn = row.turn === null ? undefined : parse<string | null>(row.turn);
  const result = row.result === null ? undefined : fromStoredResult(row.result, (hash) => contents.get(hash));
  const callId = fromStoredText(row.call_id);
  const batchId = fromStoredText(row.batch_id);
  // Few calls have an unknown outcome; only those need another query.
  const isUnknown = row.decision === 'resume' && result?.error?.code === 'outcome_unknown';
  const decisions = isUnknown ? await readDecisions(connection, tenant, row.batch_id) : [];
  return {
    callId,
    ...(turn === undefined ? {} : { madeUp: true }),
    ...(typeof turn === 'string' ? { turn } : {}),
    toolName: fromStoredText(row.tool_name),
    args: parse(row.args),
    ...restoreEffects(parse(row.effects)),
    disposition: row.disposition,
    reason: fromStoredText(row.reason),
    key: callKey(batchId, row.position),
    batchId,
    index: row.position,
    conversation: fromStoredText(row.conversation),
    ...(row.attach ? { attach: true } : {}),
    state: row.finished_at !== null ? 'done' : row.worker !== null ? 'running' : 'queued',
    ...(row.accepted_by === null ? {} : { acceptedBy: parse<Worker>(row.accepted_by) }),
    ...(row.placement === null ? {} : { placement: parse(row.placement) }),
    ...(row.decision === null ? {} : { decision: row.decision }),
    ...settledBy(decisions.at(-1), callId, result),
    acceptedAt: row.accepted_at,
    ...(row.worker === null || row.started_at === null
      ? {}
      : { worker: parse<Worker>(row.worker), startedAt: row.started_at }),
    ...(result === undefined || row.finished_at === null ? {} : { result, finishedAt: row.finished_at }),
  };
}

const NOTES = `
  SELECT kind, data, noted_at FROM {s}.notes WHERE tenant = $1 AND batch_id = $2 AND position = $3 ORDER BY number`;

export async function readNotes(
  connection: Connection,
  tenant: string,
  { batch, position }: CallPlace,
): Promise<readonly JournalNote[]> {
  const { rows } = await connection.query<{
    readonly kind: JournalNote['kind'];
    readonly data: string;
    readonly noted_at: number;
  }>(NOTES, [tenant, batch, position]);
  const late = rows.filter(({ kind }) => kind === 'late_result');
  const contents = await readContents(
    connection,
    tenant,
    late.flatMap(({ data }) => contentHashes(data)),
  );
  const dataOf = ({ kind, data }: (typeof rows)[number]): JournalNote['data'] =>
    parse(kind === 'late_result' ? readRecord(data, (hash) => contents.get(hash)) : data);
  return rows.map((row) => ({ kind: row.kind, data: dataOf(row), at: row.noted_at }));
}

/** The only place where stored JSON of calls gets its type back. */
function parse<T>(text: string): T {
  return JSON.parse(text);
}
