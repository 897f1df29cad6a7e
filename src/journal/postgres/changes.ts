import type { Changes } from '../../contract/journal.js';
import { callKey } from '../records/call-key.js';
import { fromStoredText } from '../records/stored-text.js';
import type { Connection, Work } from './connections.js';
import { queryCalls, readByPlaces, UNFINISHED } from './read-calls.js';
import { KEPT_CHANGES } from './schema-changes.js';

/** How many changes of all tenants may occur between two polls: fewer than are kept. */
const MOST_BETWEEN = KEPT_CHANGES - 5_000;

/**
 * Every transaction before `mark` has ended, so this statement sees all of its changes. The next poll reads the changes
 * of the other transactions again.
 */
const LOOK = `
  WITH here AS MATERIALIZED (
    SELECT pg_snapshot_xmin(s.now) AS mark, pg_snapshot_xmax(s.now) AS next, w.since,
      w.since IS NOT NULL AND w.since < pg_snapshot_xmax(s.now) AS is_kept, q.last_value AS number
    FROM (SELECT pg_current_snapshot() AS now) AS s
    CROSS JOIN (SELECT (SELECT c.changed_in FROM {s}.changes c WHERE c.number = 0) AS since) AS w
    CROSS JOIN {s}.changes_number_seq AS q
  ), state AS MATERIALIZED (
    SELECT h.*, coalesce(h.is_kept AND $2::xid8 >= h.since
      AND h.number - $3::bigint BETWEEN 0 AND ${MOST_BETWEEN}, false) AS is_known FROM here h
  )
  SELECT s.mark::text, s.number, s.is_kept, s.is_known, x.batch_id, x.position
  FROM state s LEFT JOIN LATERAL (
    SELECT c.batch_id, c.position, max(c.number) AS last FROM {s}.changes c
    WHERE s.is_known AND c.tenant = $1 AND c.changed_in >= $2::xid8 AND c.changed_in < s.next AND c.number > 0
    GROUP BY c.batch_id, c.position
  ) AS x ON true ORDER BY x.last`;

const BEGIN = `
  INSERT INTO {s}.changes AS c (number, tenant, batch_id, position) VALUES (0, '', '', 0)
  ON CONFLICT (number) DO UPDATE SET changed_in = pg_current_xact_id()
  WHERE c.changed_in >= pg_snapshot_xmax(pg_current_snapshot())`;

interface LookRow {
  readonly mark: string;
  readonly number: string;
  readonly is_kept: boolean;
  readonly is_known: boolean;
  readonly batch_id: string | null;
  readonly position: number | null;
}

/** The calls that have changed since a mark; all unfinished ones if that is not known. */
export function readChanges(tenant: string, since: string | undefined): Work<Changes> {
  const [from = null, number = null] = since?.split(' ') ?? [];
  return async (connection) => {
    const { rows } = await connection.query<LookRow>(LOOK, [tenant, from, number]);
    const [row] = rows;
    if (row === undefined) throw new Error('the server gave no answer');
    const mark = `${row.mark} ${row.number}`;
    if (row.is_known) return { mark, isWhole: false, calls: await readChanged(connection, tenant, rows) };
    // After a crash of the server, or if the database was restored on another server.
    if (!row.is_kept) await connection.query(BEGIN);
    const calls = await queryCalls(connection, UNFINISHED, [tenant, null, null, null, null]);
    return { mark, isWhole: true, calls };
  };
}

async function readChanged(
  connection: Connection,
  tenant: string,
  rows: readonly LookRow[],
): Promise<Changes['calls']> {
  const places = rows.flatMap(({ batch_id: batch, position }) =>
    batch === null || position === null ? [] : [{ batch, position }],
  );
  const records = await readByPlaces(connection, tenant, places);
  return places.flatMap(({ batch, position }) => records.get(callKey(fromStoredText(batch), position)) ?? []);
}
