import type { ToolCall } from '../contract/call.js';
import type { RawCall } from './raw-call.js';
import type { ReadError } from './read-error.js';
import { settleCall } from './settle-call.js';

/** Numbers the calls of one response in their order, and keeps apart what can be run and what cannot. */
export class CallCollector {
  readonly #errors: ReadError[] = [];
  #count = 0;

  /** The calls among `raws`, in order; the rest goes to the errors. */
  add(raws: readonly RawCall[]): ToolCall[] {
    const calls: ToolCall[] = [];
    for (const raw of raws) {
      const settled = settleCall(raw, this.#count);
      this.#count += 1;
      if (settled.kind === 'call') calls.push(settled.call);
      else this.#errors.push(settled.error);
    }
    return calls;
  }

  get errors(): ReadError[] {
    return [...this.#errors];
  }
}
