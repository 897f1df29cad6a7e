import type { Work } from './connections.js';
import type { RunStep, Size } from './prune-postgres.js';
import {
  HASHES_OF_NOTE,
  HASHES_OF_RESULT,
  NAMES_CONTENT,
  NOTE_NAMES_CONTENT,
  sizeOf,
} from './schema-prune.js';

const ROWS_A_PAGE = 2_000;
const HASHES_A_PAGE = 10_000;
const HASHES_AT_ONCE = 500;
const HOUR_S = 3_600;

/**
 * Removes unreferenced contents while other processes keep contents and refer to them.
 *
 * 1. A result keeps its contents in its own transaction, under a shared lock (`keep_1`). The sweep takes the time, waits
 *   for these locks once, and then reads the references. If it misses a reference, that reference was made after that
 *   time, and so its content has a later time too and stays.
 * 2. A running call keeps the old content of a file before it notes it. So while calls run, a content that was kept
 *    again during the last hour stays. While calls are unfinished, every content of the last hour stays too, unless a
 *    removed record referred to it.
 */
export class ContentSweep {
  readonly #run: RunStep;
  readonly #tenant: string;
  /** The batches that a dry run counts as removed. */
  readonly #without: ReadonlyMap<string, unknown> | undefined;
  /** Contents that removed records referred to. */
  #named = new Set<string>();
  /** The contents that a dry run has counted. */
  readonly #counted = new Set<string>();

  constructor(run: RunStep, tenant: string, without: ReadonlyMap<string, unknown> | undefined) {
    this.#run = run;
    this.#tenant = tenant;
    this.#without = without;
  }

  add(hashes: readonly string[]): void {
    for (const hash of hashes) this.#named.add(hash);
  }

  async run(): Promise<Size> {
    const since = await this.#run(readTime);
    if (this.#without === undefined) await this.#run(waitForKeepers(this.#tenant));
    const { isRunning, isUnfinished } = await this.#run(readWork(this.#tenant));
    const ageS = isUnfinished ? HOUR_S : 0;
    const named = { hashes: this.#named, since, keptS: 0, againS: isRunning ? HOUR_S : 0, objectS: ageS };
    const others = { hashes: new Set<string>(), since, keptS: ageS, againS: ageS, objectS: ageS };
    this.#named = new Set();
    for (let after = ''; ; ) {
      const page = await this.#run(readHashes(this.#tenant, others, after));
      for (const hash of page) if (!named.hashes.has(hash)) others.hashes.add(hash);
      if (page.length < HASHES_A_PAGE) break;
      after = page.at(-1) ?? '';
    }
    if (named.hashes.size + others.hashes.size === 0) return { rows: 0, bytes: 0 };
    for await (const hash of this.#references()) {
      named.hashes.delete(hash);
      others.hashes.delete(hash);
    }
    const [one, other] = [await this.#remove(named), await this.#remove(others)];
    return { rows: one.rows + other.rows, bytes: one.bytes + other.bytes };
  }

  /** The hashes that the remaining records refer to. */
  async *#references(): AsyncIterable<string> {
    for (const [sql, start] of [
      [OF_CALLS, ['', -1]],
      [OF_NOTES, ['', -1]],
    ] as const) {
      for (let after: readonly unknown[] = start; ; ) {
        const page = await this.#run(readReferences(this.#tenant, sql, after));
        for (const { batch, hash } of page) {
          if (hash !== null && this.#without?.has(batch) !== true) yield hash;
        }
        const last = page.at(-1);
        if (last === undefined) break;
        after = [last.batch, last.place];
      }
    }
  }

  async #remove(unused: Unused): Promise<Size> {
    const isDry = this.#without !== undefined;
    const hashes = [...unused.hashes].filter((hash) => !this.#counted.has(hash));
    let [rows, bytes] = [0, 0];
    for (let start = 0; start < hashes.length; start += HASHES_AT_ONCE) {
      const some = hashes.slice(start, start + HASHES_AT_ONCE);
      const removed = await this.#run(removeContents(this.#tenant, unused, some, isDry));
      if (isDry) for (const { hash } of removed) this.#counted.add(hash);
      rows += removed.length;
      bytes += removed.reduce((sum, row) => sum + Number(row.bytes), 0);
    }
    return { rows, bytes };
  }
}

/** Contents that may be unused, and how long before the sweep they were kept: the first and the last time. */
interface Unused {
  readonly hashes: Set<string>;
  readonly since: string;
  readonly keptS: number;
  readonly againS: number;
  /** The same for contents in an object store, whose rows are older than their objects and results. */
  readonly objectS: number;
}

const readTime: Work<string> = async ({ query }) => {
  const { rows } = await query<{ readonly time: string }>('SELECT clock_timestamp()::text AS time');
  return rows[0]?.time ?? '';
};

const WAIT_FOR_KEEPERS = `
  SELECT set_config('lock_timeout', '2s', true), pg_advisory_xact_lock(hashtextextended('{s} contents ' || $1, 0))`;

function waitForKeepers(tenant: string): Work<void> {
  return async ({ query }) => {
    await query(WAIT_FOR_KEEPERS, [tenant]);
  };
}

const WORK = `
  SELECT count(*) > 0 AS unfinished, count(c.worker_id) > 0 AS running FROM {s}.calls c
  WHERE c.tenant = $1 AND c.finished_at IS NULL`;

function readWork(tenant: string): Work<{ readonly isRunning: boolean; readonly isUnfinished: boolean }> {
  return async ({ query }) => {
    const { rows } = await query<Record<'unfinished' | 'running', boolean>>(WORK, [tenant]);
    return { isRunning: rows[0]?.running === true, isUnfinished: rows[0]?.unfinished === true };
  };
}

const OLD_ENOUGH = `
  x.tenant = $1 AND x.kept_at < $2::timestamptz - make_interval(secs => $3)
  AND coalesce(x.kept_again_at, '-infinity') < $2::timestamptz - make_interval(secs => $4)
  AND (x.object_key IS NULL OR greatest(x.kept_at, x.kept_again_at) < $2::timestamptz - make_interval(secs => $5))`;
const HASHES = `
  SELECT x.hash FROM {s}.blobs x WHERE ${OLD_ENOUGH} AND x.hash > $6 ORDER BY x.hash LIMIT ${HASHES_A_PAGE}`;

function readHashes(
  tenant: string,
  { since, keptS, againS, objectS }: Unused,
  after: string,
): Work<readonly string[]> {
  return async ({ query }) => {
    const { rows } = await query<{ readonly hash: string }>(HASHES, [
      tenant,
      since,
      keptS,
      againS,
      objectS,
      after,
    ]);
    return rows.map(({ hash }) => hash);
  };
}

interface ContentRow {
  readonly hash: string;
  readonly bytes: string;
}

function removeContents(
  tenant: string,
  { since, keptS, againS, objectS }: Unused,
  hashes: readonly string[],
  dry: boolean,
): Work<readonly ContentRow[]> {
  const columns = `x.hash, ${sizeOf('blobs', 'x')} AS bytes`;
  const which = `${OLD_ENOUGH} AND x.hash = ANY($6::text[])`;
  const sql = dry
    ? `SELECT ${columns} FROM {s}.blobs x WHERE ${which}`
    : `WITH removed AS (DELETE FROM {s}.blobs x WHERE ${which} RETURNING ${columns}, x.tenant, x.object_key),
      dead AS (
        INSERT INTO {s}.dead_objects (tenant, key)
        SELECT r.tenant, r.object_key FROM removed r WHERE r.object_key IS NOT NULL)
      SELECT r.hash, r.bytes FROM removed r`;
  return async ({ query }) =>
    (await query<ContentRow>(sql, [tenant, since, keptS, againS, objectS, hashes])).rows;
}

/** A reference, or a row without a reference (null). The last row of a page holds its position. */
interface Reference {
  readonly batch: string;
  readonly place: string;
  readonly hash: string | null;
}

const OF_CALLS = `
  WITH page AS MATERIALIZED (
    SELECT c.batch_id, c.position, c.result FROM {s}.calls c
    WHERE c.tenant = $1 AND ${NAMES_CONTENT} AND (c.batch_id, c.position) > ($2, $3::integer)
    ORDER BY c.batch_id, c.position LIMIT ${ROWS_A_PAGE})
  SELECT c.batch_id AS batch, c.position AS place, m.found[1] AS hash
  FROM page c LEFT JOIN LATERAL ${HASHES_OF_RESULT} AS m (found) ON true
  ORDER BY c.batch_id, c.position`;
const OF_NOTES = `
  WITH page AS MATERIALIZED (
    SELECT n.batch_id, n.number, n.data FROM {s}.notes n
    WHERE n.tenant = $1 AND $2::text IS NOT NULL AND ${NOTE_NAMES_CONTENT} AND n.number > $3::bigint
    ORDER BY n.number LIMIT ${ROWS_A_PAGE})
  SELECT n.batch_id AS batch, n.number AS place, m.found[1] AS hash
  FROM page n LEFT JOIN LATERAL ${HASHES_OF_NOTE} AS m (found) ON true
  ORDER BY n.number`;

function readReferences(tenant: string, sql: string, after: readonly unknown[]): Work<readonly Reference[]> {
  return async ({ query }) => (await query<Reference>(sql, [tenant, ...after])).rows;
}
