import type { CallRecord, OpenCounts, QueuedPage, RunningCount } from '../../contract/journal.js';
import { parseCallKey } from '../records/call-key.js';
import { fromStoredText, toStoredText } from '../records/stored-text.js';
import type { Work } from './connections.js';
import { queryCalls, readCalls } from './read-calls.js';

const OLDEST_FIRST = `
  WHERE c.tenant = $1 AND c.finished_at IS NULL AND c.worker_id IS NULL AND b.placement IS NOT NULL
    AND (b.decision IS NULL OR b.decision = 'resume')
    AND ($2::text[] IS NULL OR (b.labels <@ $2 AND (b.root IS NULL OR b.root = ANY($3::text[]))))
    AND ($4::text IS NULL OR c.number > (
      SELECT a.number FROM {s}.calls a WHERE a.tenant = $1 AND a.batch_id = $4 AND a.position = $5::integer))
  ORDER BY c.number LIMIT $6`;

const FAIR = 'SELECT * FROM {s}.queued_calls_1($1, $2, $3, $4, $5, $6)';

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
    return (connection) => queryCalls(connection, FAIR, [tenant, labels, roots, quotas, skip, limit]);
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
