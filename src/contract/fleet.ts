import type { Awaitable } from './call.js';
import type { CallKey } from './journal.js';

/**
 * Carries hints between the processes of a fleet: the keys of calls that may be taken. The journal is the truth and the
 * fence, so hints may be lost, doubled, delayed and reordered: they only make a worker look sooner than it would anyway.
 */
export interface Dispatcher {
  /** Says that these calls may be taken. A rejection is logged, and changes nothing. */
  hint(calls: readonly CallKey[]): Awaitable<void>;
  /** Calls back with each hint, until the returned function is called. */
  listen(onHint: (call: CallKey) => void): () => void;
}
