import type { Awaitable } from './call.js';
import type { CallKey } from './worker.js';

/**
 * Carries hints between the processes of a fleet: the keys of calls that workers may take. The journal
 * decides who runs a call, so hints may be lost, doubled, delayed and reordered. They only make a worker look
 * sooner.
 */
export interface Dispatcher {
  /** Announces that these calls may be taken. A rejection is logged and changes nothing. */
  hint(calls: readonly CallKey[]): Awaitable<void>;
  /**
   * Calls `onHint` for each hint, until the returned function is called. Its promise resolves when the worker has room for
   * another call: a queue that gives each hint to one worker should hand out no more before.
   */
  listen(onHint: (call: CallKey) => Awaitable<void>): () => void;
}
