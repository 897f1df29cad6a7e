import type { ToolCall } from '../contract/call.js';
import type { CallOrigin } from './call-origin.js';
import type { KnownTools } from './known-tools.js';
import type { RawCall } from './raw-call.js';
import type { ReadError } from './read-error.js';
import { settleCall } from './settle-call.js';

/** Numbers the calls of one response in their order, and keeps apart what can be run and what cannot. */
export class CallCollector {
  readonly #tools: KnownTools;
  readonly #errors: ReadError[] = [];
  readonly #origins: CallOrigin[] = [];
  #count = 0;

  constructor(tools: KnownTools) {
    this.#tools = tools;
  }

  /** The calls among `raws`, in order; the rest goes to the errors. */
  add(raws: readonly RawCall[]): ToolCall[] {
    const calls: ToolCall[] = [];
    for (const raw of raws) {
      const settled = settleCall(raw, this.#count, this.#tools);
      this.#count += 1;
      if (settled.origin !== undefined) this.#origins.push(settled.origin);
      if (settled.kind === 'call') calls.push(settled.call);
      else this.#errors.push(settled.error);
    }
    return calls;
  }

  /** What is to be handed on besides the calls. */
  get rest(): { errors: ReadError[]; origins?: readonly CallOrigin[] } {
    const errors = [...this.#errors];
    return this.#origins.length === 0 ? { errors } : { errors, origins: [...this.#origins] };
  }
}
