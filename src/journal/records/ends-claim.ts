import type { Claimant, Worker } from '../../contract/journal.js';

/**
 * Whether an answer may end a call that this worker has claimed.
 * @param worker undefined: the call has no claim
 * @param claimant undefined: a caller without types passes none, and then ends any claim of the call
 */
export function endsClaim(claimant: Claimant | undefined, worker: Pick<Worker, 'id'> | undefined): boolean {
  if (worker === undefined || claimant === undefined) return true;
  return claimant !== 'queued' && claimant.id === worker.id;
}
