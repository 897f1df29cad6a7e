import type { Awaitable } from './call.js';
import type { CallKey } from './worker.js';

/**
 * Carries hints between the processes of a fleet: the keys of calls that workers may take. The journal
 * decides who runs a call, so hints may be lost, duplicated, delayed and reordered. They only make a worker look
 * sooner.
 */
export interface Dispatcher {
  /** Announces that these calls may be taken. A rejection is logged and changes nothing. */
  hint(calls: readonly CallKey[]): Awaitable<void>;
  /**
   * Calls `onHint` for each hint, until the returned function is called. Its promise resolves when the worker has room for
   * another call: a queue that gives each hint to one worker should deliver no further hint until then.
   */
  listen(onHint: (call: CallKey) => Awaitable<void>): () => void;
}

/** The meaning of a signal: its calls are to be cancelled, or a worker has recorded their answers. */
export type SignalTopic = 'cancel' | 'answer';

/**
 * Carries keys of calls between the processes that share a journal, without delay. Signals may be lost, duplicated and
 * reordered, so readers poll the journal as well, only less often.
 */
export interface Signals {
  send(topic: SignalTopic, calls: readonly CallKey[]): void;
  /** Calls `onSignal` for each call of a signal, until the returned function is called. */
  listen(topic: SignalTopic, onSignal: (call: CallKey) => void): () => void;
}
