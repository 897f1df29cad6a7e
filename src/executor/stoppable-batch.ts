import { CANCELLED_MESSAGE, CLOSED_MESSAGE } from './answer/results.js';
import type { Stop } from './execute/stop.js';
import { QueuedBatch } from './queue.js';

/** A batch that can be told to end. Signal and promise are made for those who ask: most batches end by themselves. */
export abstract class StoppableBatch extends QueuedBatch {
  #stop: Stop | undefined = undefined;
  #stopping: AbortController | undefined = undefined;
  #stopped: Promise<void> | undefined = undefined;
  #tellStopped: (() => void) | undefined = undefined;

  /** The first time counts: then `end` is called. */
  stop(stop: Stop): void {
    if (this.#stop !== undefined) return;
    this.#stop = stop;
    this.#stopping?.abort(toReason(stop));
    this.#tellStopped?.();
    this.end(stop);
  }

  /** Ends what runs. */
  protected abstract end(stop: Stop): void;

  /** Why the batch was told to end, once it was. */
  get stopReason(): Stop | undefined {
    return this.#stop;
  }

  get isStopped(): boolean {
    return this.#stop !== undefined;
  }

  /** Aborts when the batch is told to end. */
  get signal(): AbortSignal {
    if (this.#stopping === undefined) {
      this.#stopping = new AbortController();
      if (this.#stop !== undefined) this.#stopping.abort(toReason(this.#stop));
    }
    return this.#stopping.signal;
  }

  get stopped(): Promise<void> {
    this.#stopped ??= new Promise((resolve) => {
      if (this.isStopped) resolve();
      else this.#tellStopped = resolve;
    });
    return this.#stopped;
  }
}

function toReason({ cause }: Stop): Error {
  return new Error(cause === 'closed' ? CLOSED_MESSAGE : CANCELLED_MESSAGE);
}

/** Whom to tell for each signal. One listener a signal, because Node warns of a leak at the eleventh. */
const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls back once when `signal` aborts. The returned function takes that back, and leaves nothing on the signal. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const told = listeners.get(signal) ?? listen(signal);
  told.add(callback);
  return () => {
    told.delete(callback);
    if (told.size > 0 || listeners.get(signal) !== told) return;
    listeners.delete(signal);
    signal.removeEventListener('abort', tell);
  };
}

function listen(signal: AbortSignal): Set<() => void> {
  const told = new Set<() => void>();
  listeners.set(signal, told);
  signal.addEventListener('abort', tell, { once: true });
  return told;
}

function tell(this: AbortSignal): void {
  const told = listeners.get(this);
  listeners.delete(this);
  for (const callback of [...(told ?? [])]) callback();
}
