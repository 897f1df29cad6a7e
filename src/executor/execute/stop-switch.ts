import { CANCELLED_MESSAGE } from '../record/results.js';
import type { Stop } from './stop.js';

/** Whether a batch is told to end: one switch for all that take part in it. */
export class StopSwitch {
  #stop: Stop | undefined;
  /** Made when somebody listens: most batches are never stopped. */
  #abort: AbortController | undefined;

  get stop(): Stop | undefined {
    return this.#stop;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#stop !== undefined) this.#abort.abort(new Error(CANCELLED_MESSAGE));
    return this.#abort.signal;
  }

  /** The first time counts: then it answers true. */
  throw(stop: Stop): boolean {
    if (this.#stop !== undefined) return false;
    this.#stop = stop;
    this.#abort?.abort(new Error(CANCELLED_MESSAGE));
    return true;
  }
}
