import { abortable } from '../base/abortable.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import { ToolError } from '../errors/tool-error.js';

/** The results of one batch in mode `parse_only`, which come from outside, in any order (D013). */
export class Submissions {
  readonly #calls: readonly ToolCall[];
  readonly #results: (ToolResult | undefined)[];
  #isWhole: () => void = nothing;

  constructor(calls: readonly ToolCall[]) {
    this.#calls = calls;
    this.#results = calls.map(() => undefined);
  }

  /** Those without a result. */
  get calls(): readonly ToolCall[] {
    return this.#calls.filter((_, index) => this.#results[index] === undefined);
  }

  /** @throws ToolError `bad_args` */
  take(
    callId: string,
    { output, success = true }: { readonly output: string; readonly success?: boolean },
  ): void {
    const index = this.#calls.findIndex(({ id }, at) => id === callId && this.#results[at] === undefined);
    const call = this.#calls[index];
    if (call === undefined) {
      const open = this.calls.map(({ id }) => id).join(', ') || 'none';
      const message = `Cannot take a result for "${callId}": it is no call that waits for one. Those that wait: ${open}.`;
      throw new ToolError('bad_args', message);
    }
    if (typeof output !== 'string') {
      throw new ToolError('bad_args', `Cannot take a result for "${callId}": its output must be a text.`);
    }
    this.#results[index] = submitted(call, output, success);
    if (this.calls.length === 0) this.#isWhole();
  }

  /** Undefined once the signal aborts. */
  async all(signal: AbortSignal): Promise<readonly ToolResult[] | undefined> {
    const whole = new Promise<void>((resolve) => {
      this.#isWhole = resolve;
    });
    if (this.calls.length > 0) {
      try {
        await abortable(() => whole, signal);
      } catch {
        return undefined;
      }
    }
    return this.cancel();
  }

  /** What was submitted, and `cancelled` for the rest. */
  cancel(): readonly ToolResult[] {
    return this.#calls.map((call, index) => this.#results[index] ?? cancelled(call));
  }
}

const nothing = (): void => {};

const PLAIN = { truncated: false, executionTimeMs: 0, metadata: { submitted: true } } as const;

function submitted({ id, name }: ToolCall, output: string, success: boolean): ToolResult {
  const named = { ...PLAIN, callId: id, toolName: name };
  if (success) return { ...named, success, output };
  const error = { code: 'execution_failed', message: output, details: { executed: 'maybe' } } as const;
  return { ...named, success, output: '', error };
}

function cancelled({ id, name }: ToolCall): ToolResult {
  const error = { code: 'cancelled', message: 'Cancelled by user', details: { executed: 'no' } } as const;
  return { ...PLAIN, callId: id, toolName: name, success: false, output: '', error, metadata: {} };
}
