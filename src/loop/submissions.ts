import { abortable } from '../base/abortable.js';
import type { ToolCall } from '../contract/call.js';
import type { SubmittedResult } from '../contract/executor.js';
import { ToolError } from '../errors/tool-error.js';

/** The results of a batch in mode `parse_only`. They come from outside, in any order (D013). */
export class Submissions {
  readonly #calls: readonly ToolCall[];
  readonly #given: (SubmittedResult | undefined)[];
  #isWhole: () => void = nothing;

  constructor(calls: readonly ToolCall[]) {
    this.#calls = calls;
    this.#given = calls.map(() => undefined);
  }

  /** The calls without a result. */
  get calls(): readonly ToolCall[] {
    return this.#calls.filter((_, index) => this.#given[index] === undefined);
  }

  /** In call order; undefined without a submission. */
  get given(): readonly (SubmittedResult | undefined)[] {
    return this.#given;
  }

  /** @throws ToolError `bad_args` */
  take(callId: string, { output, success = true }: SubmittedResult): void {
    const index = this.#calls.findIndex(({ id }, at) => id === callId && this.#given[at] === undefined);
    if (index === -1) {
      const open = this.calls.map(({ id }) => id).join(', ') || 'none';
      const message = `Cannot take a result for "${callId}": no such call waits for one. Calls that wait: ${open}.`;
      throw new ToolError('bad_args', message);
    }
    if (typeof output !== 'string') {
      throw new ToolError('bad_args', `Cannot take a result for "${callId}": its output must be a text.`);
    }
    this.#given[index] = { output, success };
    if (this.calls.length === 0) this.#isWhole();
  }

  /** Waits until every call has a result, or the signal aborts. */
  async whole(signal: AbortSignal): Promise<void> {
    const whole = new Promise<void>((resolve) => {
      this.#isWhole = resolve;
    });
    if (this.calls.length > 0) await abortable(() => whole, signal).catch(nothing);
  }
}

const nothing = (): void => {};
