import type { BatchEntry, Placement } from '../../contract/journal.js';
import type { EvaluatedCall } from '../call/evaluated-call.js';

/**
 * The placement of a batch. A root belongs to certain workers, so calls that touch files or run commands go to a worker
 * with this root. Other calls go to any worker with their tool.
 */
export function placedBatch(
  base: Placement,
  evaluated: readonly EvaluatedCall[],
  timeoutMs: number | undefined,
  openQuota: number | undefined,
): Pick<BatchEntry, 'placement' | 'openQuota'> {
  const placement = placementOf(base, evaluated, timeoutMs);
  return openQuota === undefined ? { placement } : { placement, openQuota };
}

function placementOf(
  base: Placement,
  evaluated: readonly EvaluatedCall[],
  timeoutMs: number | undefined,
): Placement {
  const all = timeoutMs === undefined ? base : { ...base, timeoutMs };
  const { root, ...anywhere } = all;
  if (root === undefined) return all;
  const touchesFiles = evaluated.some(
    (call) => call.kind === 'ready' && call.effects.some(({ at }) => at !== undefined),
  );
  return touchesFiles ? all : anywhere;
}
