import type { Placement, WorkerOffer } from '../../contract/journal.js';

/** Whether a worker can run the calls of a placement. @param offer left out: a worker that offers everything. */
export function admits(placement: Placement | undefined, offer: WorkerOffer | undefined): boolean {
  if (placement === undefined) return false;
  if (offer === undefined) return true;
  const { labels = [], root } = placement;
  const hasRoot = root === undefined || offer.roots?.includes(root) === true;
  return hasRoot && labels.every((label) => offer.labels?.includes(label) === true);
}
