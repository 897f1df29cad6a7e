import type { Awaitable } from './call.js';
import type { CallKey } from './journal.js';

/**
 * Carries hints between the processes of a fleet: the keys of calls that workers may take. The journal
 * decides who runs a call, so hints may be lost, doubled, delayed and reordered. They only make a worker look
 * sooner.
 */
export interface Dispatcher {
  /** Announces that these calls may be taken. A rejection is logged and changes nothing. */
  hint(calls: readonly CallKey[]): Awaitable<void>;
  /** Calls `onHint` for each hint, until the returned function is called. */
  listen(onHint: (call: CallKey) => void): () => void;
}
