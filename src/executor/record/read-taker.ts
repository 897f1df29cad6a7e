import type { BatchDecision, Worker } from '../../contract/journal.js';
import type { JsonValue } from '../../contract/json.js';

/** The process that took over a deferred batch with its approval, as that process recorded itself. */
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
