import type { BatchDecision, CallRecord, Journal, Worker } from '../../contract/journal.js';
import type { JsonValue } from '../../contract/json.js';

/** The worker of an unfinished call: it runs the call, has taken over the call's batch, or has accepted it. */
export async function ownerOf(
  { worker, decision, batchId, acceptedBy }: CallRecord,
  journal: Pick<Journal, 'decisions'>,
): Promise<Worker | undefined> {
  if (worker !== undefined || decision !== 'resume') return worker ?? acceptedBy;
  return readTaker((await journal.decisions(batchId)).at(-1)) ?? acceptedBy;
}

/** Whether the call is queued for any worker of a fleet. */
export function isForAnyWorker({ worker, placement, result }: CallRecord): boolean {
  return placement !== undefined && worker === undefined && result === undefined;
}

/** The process that took over a deferred batch by approving it, according to its own record. */
export function readTaker(decision: BatchDecision | undefined): Worker | undefined {
  return decision?.kind === 'resume' ? toWorker(decision.data.worker) : undefined;
}

function toWorker(value: JsonValue | undefined): Worker | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { id, pid, startedAt, startTicks, system } = value as Readonly<Record<string, JsonValue>>;
  if (typeof id !== 'string' || typeof pid !== 'number' || typeof startedAt !== 'number') return undefined;
  return {
    id,
    pid,
    startedAt,
    ...(typeof startTicks === 'number' ? { startTicks } : {}),
    ...(typeof system === 'string' ? { system } : {}),
  };
}
