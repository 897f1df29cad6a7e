import type { CallKey, WorkerOffer } from './worker.js';

/** Selects batches, newest first. */
export interface BatchFilter {
  readonly conversation?: string;
  /** Only batches that wait for the person. */
  readonly waiting?: boolean;
  /** Only batches whose id starts with this. A journal that does not know this filter returns others too. */
  readonly prefix?: string;
  /** The maximum number; default: all. */
  readonly limit?: number;
  /** A batch id: only older batches. */
  readonly before?: string;
}

/** A part of a list of calls. */
export interface CallPage {
  /** The maximum number of calls. */
  readonly limit: number;
  /** Only calls after this one, which may be gone from the list. If absent: from the start. */
  readonly after?: CallKey;
}

/** A part of the list of queued calls: those that a worker with this offer can run. */
export interface QueuedPage extends CallPage {
  /** If absent: calls of all placements. */
  readonly offer?: WorkerOffer;
  /**
   * If absent: oldest first. `fair`: tenants take turns, each with its running calls counted first; then by priority,
   * then the conversations of a tenant take turns. Calls that a quota holds back are left out, and `after` has no meaning.
   */
  readonly order?: 'fair';
  /** The number of calls to leave out at the start. Only with an order. */
  readonly skip?: number;
}
