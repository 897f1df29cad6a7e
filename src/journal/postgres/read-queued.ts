import type { CallRecord, OpenCounts, QueuedPage, RunningCount } from '../../contract/journal.js';
import { parseCallKey } from '../records/call-key.js';
import { fromStoredText, toStoredText } from '../records/stored-text.js';
import type { Work } from './connections.js';
import { readCalls } from './read-calls.js';

const FREE = `
  c.tenant = $1 AND c.finished_at IS NULL AND c.worker_id IS NULL AND b.placement IS NOT NULL
  AND (b.decision IS NULL OR b.decision = 'resume')
  AND ($2::text[] IS NULL OR (b.labels <@ $2 AND (b.root IS NULL OR b.root = ANY($3::text[]))))`;

const OLDEST_FIRST = `
  WHERE ${FREE}
    AND ($4::text IS NULL OR c.number > (
      SELECT a.number FROM {s}.calls a WHERE a.tenant = $1 AND a.batch_id = $4 AND a.position = $5::integer))
  ORDER BY c.number LIMIT $6`;

// The same order as in `fairPage`, computed where the calls are: most of them are not handed out yet.
const FAIR = `
  JOIN (
    SELECT t.batch_id, t.position, coalesce(t.busy, 0) + t.place AS place, t.priority FROM (
      SELECT f.*, row_number() OVER (PARTITION BY f.of_tenant ORDER BY f.priority DESC, f.turn, f.number) - 1 AS place
      FROM (
        SELECT c.batch_id, c.position, c.number, q.of_tenant, q.priority, n.busy,
          row_number() OVER (PARTITION BY q.of_tenant, c.conversation ORDER BY c.number) AS turn
        FROM {s}.calls c JOIN {s}.batches b ON b.tenant = c.tenant AND b.id = c.batch_id
        CROSS JOIN LATERAL (
          SELECT coalesce(p.placement ->> 'tenant', $1) AS of_tenant, coalesce((p.placement ->> 'priority')::numeric, 0) AS priority,
            least((p.placement -> 'quotas' ->> 'running')::integer, ($4::json ->> 'running')::integer) AS most,
            {s}.most_of_1(p.placement -> 'quotas', $4::json, 'tools', c.tool_name) AS most_of_tool, p.placement -> 'quotas' AS quotas
          FROM (SELECT b.placement::json AS placement) AS p) AS q
        LEFT JOIN (SELECT r.of_tenant, sum(r.count) AS busy FROM {s}.running_2($1) AS r GROUP BY 1) AS n
          ON n.of_tenant = q.of_tenant
        LEFT JOIN (SELECT r.of_tenant, r.tool_name, sum(r.count) AS count FROM {s}.running_2($1) AS r GROUP BY 1, 2) AS m
          ON m.of_tenant = q.of_tenant AND m.tool_name = c.tool_name
        LEFT JOIN (
          SELECT r.of_tenant, json_object_agg(r.label, r.count) AS counts FROM (
            SELECT r.of_tenant, l.label, sum(r.count) AS count FROM {s}.running_2($1) AS r
            CROSS JOIN LATERAL (SELECT DISTINCT label FROM unnest(r.labels) AS label) AS l GROUP BY 1, 2) AS r
          GROUP BY 1) AS k ON k.of_tenant = q.of_tenant
        WHERE ${FREE}
          AND (q.most IS NULL OR coalesce(n.busy, 0) < q.most)
          AND (q.most_of_tool IS NULL OR coalesce(m.count, 0) < q.most_of_tool)
          AND NOT EXISTS (
            SELECT 1 FROM unnest(b.labels) AS label
            WHERE coalesce((k.counts ->> label)::bigint, 0) >= {s}.most_of_1(q.quotas, $4::json, 'labels', label))) AS f) AS t
  ) AS o ON o.batch_id = c.batch_id AND o.position = c.position
  WHERE c.tenant = $1
  ORDER BY o.place, o.priority DESC, c.number OFFSET $5::bigint LIMIT $6`;

/** Queued calls that the offer can run, oldest first or in fair order. */
export function readQueued(
  tenant: string,
  { limit, after, offer, order, skip = 0 }: QueuedPage,
): Work<readonly CallRecord[]> {
  const place = after === undefined ? undefined : parseCallKey(after);
  const labels = offer === undefined ? null : (offer.labels ?? []).map(toStoredText);
  const roots = (offer?.roots ?? []).map(toStoredText);
  if (order === 'fair') {
    const quotas = offer?.quotas === undefined ? null : JSON.stringify(offer.quotas);
    return (connection) => readCalls(connection, FAIR, [tenant, labels, roots, quotas, skip, limit]);
  }
  return (connection) =>
    readCalls(connection, OLDEST_FIRST, [
      ...([tenant, labels, roots] as const),
      ...[place === undefined ? null : toStoredText(place.batchId), place?.index ?? null, limit],
    ]);
}

const RUNNING = 'SELECT of_tenant, tool_name, labels, count FROM {s}.running_2($1)';

/** The running calls with a placement, by tenant, tool and labels. */
export function readRunning(tenant: string): Work<readonly RunningCount[]> {
  return async ({ query }) => {
    const { rows } = await query<{
      readonly of_tenant: string;
      readonly tool_name: string;
      readonly labels: readonly string[];
      readonly count: string;
    }>(RUNNING, [tenant]);
    return rows.map(({ of_tenant, tool_name, labels, count }) => ({
      tenant: fromStoredText(of_tenant),
      toolName: fromStoredText(tool_name),
      ...(labels.length === 0 ? {} : { labels: labels.map(fromStoredText) }),
      count: Number(count),
    }));
  };
}

const QUEUED_OPEN = "c.worker_id IS NULL AND b.placement IS NOT NULL AND b.decision IS DISTINCT FROM 'wait'";
const OPEN = `
  SELECT count(*) FILTER (WHERE ${QUEUED_OPEN}) AS queued, min(b.accepted_at) FILTER (WHERE ${QUEUED_OPEN}) AS oldest,
    count(*) FILTER (WHERE c.worker_id IS NOT NULL) AS running,
    count(DISTINCT b.id) FILTER (WHERE b.decision = 'wait') AS waiting
  FROM {s}.calls c JOIN {s}.batches b ON b.tenant = c.tenant AND b.id = c.batch_id
  WHERE c.tenant = $1 AND c.finished_at IS NULL`;

/** Counts the calls without a result. */
export function countOpen(tenant: string): Work<OpenCounts> {
  return async ({ query }) => {
    const { rows } = await query<{
      readonly queued: string;
      readonly oldest: number | null;
      readonly running: string;
      readonly waiting: string;
    }>(OPEN, [tenant]);
    const { queued = 0, oldest = null, running = 0, waiting = 0 } = rows[0] ?? {};
    return {
      queued: Number(queued),
      ...(oldest === null ? {} : { oldestQueuedAt: oldest }),
      running: Number(running),
      waitingBatches: Number(waiting),
    };
  };
}
