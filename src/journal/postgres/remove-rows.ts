import { FLEET_TOKENS } from '../records/reserved-conversations.js';
import type { Work } from './connections.js';
import { SIZED_TABLES, sizeOf } from './schema-prune.js';

/** The steps of a prune that remove rows: each is one transaction. Texts are in stored form. */

const SIZE = SIZED_TABLES.map(
  (table) => `(SELECT coalesce(sum(${sizeOf(table, 't')}), 0) FROM {s}.${table} t WHERE t.tenant = $1)`,
).join(' + ');

/** The size of all records of a tenant, in bytes. */
export function readSize(tenant: string): Work<number> {
  return async ({ query }) => {
    const { rows } = await query<{ readonly bytes: string }>(`SELECT ${SIZE} AS bytes`, [tenant]);
    return Number(rows[0]?.bytes ?? 0);
  };
}

export function countBatches(tenant: string): Work<number> {
  return async ({ query }) => {
    const { rows } = await query<{ readonly count: string }>(
      'SELECT count(*) AS count FROM {s}.batches WHERE tenant = $1',
      [tenant],
    );
    return Number(rows[0]?.count ?? 0);
  };
}

/** A batch that may be finished. */
export interface Candidate {
  readonly id: string;
  readonly number: string;
  readonly size: number;
  readonly at: number;
}

const CANDIDATES = `
  SELECT b.id, b.number, b.size, b.accepted_at AS at FROM {s}.batches b
  WHERE b.tenant = $1 AND b.accepted_at < $2::double precision AND b.number > $3::bigint AND b.decision IS DISTINCT FROM 'wait'
  ORDER BY b.number LIMIT $4::bigint`;

/** The next batches that were accepted before a time, oldest first. */
export function readCandidates(
  tenant: string,
  before: number,
  after: string,
  limit: number,
): Work<readonly Candidate[]> {
  return async ({ query }) => (await query<Candidate>(CANDIDATES, [tenant, before, after, limit])).rows;
}

export interface RemovedBatch {
  readonly id: string;
  readonly conversation: string;
  readonly calls: number;
  readonly bytes: number;
  /** Contents that the batch referred to. */
  readonly hashes: readonly string[];
  /** The batch was not removed, because its conversation is in use. */
  readonly isBusy: boolean;
}

/** Removes those of the batches that are finished, with the ones that attached to them. @param dry only reports them */
export function removeBatches(
  tenant: string,
  ids: readonly string[],
  before: number,
  dry: boolean,
): Work<readonly RemovedBatch[]> {
  return async ({ query }) => {
    const { rows } = await query<{
      readonly id: string;
      readonly conversation: string;
      readonly calls: string;
      readonly bytes: string;
      readonly hashes: readonly string[];
      readonly is_busy: boolean;
    }>('SELECT * FROM {s}.prune_1($1, $2::text[], $3::double precision, $4::boolean)', [
      ...[tenant, ids, before, dry],
    ]);
    return rows.map(({ calls, bytes, is_busy, ...row }) => ({
      ...row,
      calls: Number(calls),
      bytes: Number(bytes),
      isBusy: is_busy,
    }));
  };
}

const TIMES = { messages: 'sent_at', facts: 'remembered_at' } as const;
type LooseTable = keyof typeof TIMES;

/** Conversations with old messages or facts, and how many batches they have. */
export function readLoose(
  tenant: string,
  table: LooseTable,
  before: number,
): Work<
  readonly {
    readonly conversation: string;
    readonly batches: number;
    readonly rows: number;
    readonly bytes: number;
  }[]
> {
  const found = `
    SELECT t.conversation, count(*) AS rows, sum(${sizeOf(table, 't')}) AS bytes, (
      SELECT count(*) FROM {s}.batches b WHERE b.tenant = $1 AND b.conversation = t.conversation) AS batches
    FROM {s}.${table} t
    WHERE t.tenant = $1 AND t.${TIMES[table]} < $2::double precision AND t.conversation <> $3 GROUP BY t.conversation`;
  return async ({ query }) => {
    const { rows } = await query<Record<'conversation' | 'rows' | 'bytes' | 'batches', string>>(found, [
      ...[tenant, before, FLEET_TOKENS],
    ]);
    return rows.map(({ conversation, ...counts }) => ({
      conversation,
      batches: Number(counts.batches),
      rows: Number(counts.rows),
      bytes: Number(counts.bytes),
    }));
  };
}

export function removeLoose(
  tenant: string,
  table: LooseTable,
  before: number,
  conversations: readonly string[],
): Work<{ readonly rows: number; readonly bytes: number }> {
  const remove = `
    WITH removed AS (
      DELETE FROM {s}.${table} t
      WHERE t.tenant = $1 AND t.${TIMES[table]} < $2::double precision AND t.conversation = ANY($3::text[])
        AND NOT EXISTS (SELECT 1 FROM {s}.batches b WHERE b.tenant = $1 AND b.conversation = t.conversation)
      RETURNING ${sizeOf(table, 't')} AS bytes)
    SELECT count(*) AS rows, coalesce(sum(bytes), 0) AS bytes FROM removed`;
  return async ({ query }) => {
    const { rows } = await query<Record<'rows' | 'bytes', string>>(remove, [tenant, before, conversations]);
    return { rows: Number(rows[0]?.rows ?? 0), bytes: Number(rows[0]?.bytes ?? 0) };
  };
}

const LATE_NOTES = `
  DELETE FROM {s}.notes n WHERE n.tenant = $1 AND NOT EXISTS (
    SELECT 1 FROM {s}.calls c WHERE c.tenant = $1 AND c.batch_id = n.batch_id AND c.position = n.position)`;

/** A note that was written while its call was being removed. */
export function removeLateNotes(tenant: string): Work<void> {
  return async ({ query }) => {
    await query(LATE_NOTES, [tenant]);
  };
}

const ENDED = `
  DELETE FROM {s}.sessions s WHERE s.tenant = $1 AND s.ended_at < $2::double precision
    AND (s.worker, s.epoch) NOT IN (SELECT h.worker, h.epoch FROM {s}.holders_1($1) AS h)`;

/** Sessions that ended before a time and have no calls left. */
export function removeSessions(tenant: string, before: number): Work<void> {
  return async ({ query }) => {
    await query(ENDED, [tenant, before]);
  };
}

/** Live output from before a time. */
export function removeOutput(tenant: string, before: number): Work<void> {
  return async ({ query }) => {
    await query('DELETE FROM {s}.live_texts WHERE tenant = $1 AND printed_at < $2::double precision', [
      ...[tenant, before],
    ]);
  };
}
