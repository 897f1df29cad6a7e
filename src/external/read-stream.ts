import type { ToolContext } from '../contract/context.js';
import { LineSplitter, readToolLine } from './tool-lines.js';

/** The answer of a program that writes lines. */
export type StreamedAnswer =
  | { readonly value: unknown }
  | { readonly error: string }
  | { readonly fault: string };

/**
 * Reads a program that declares streaming: `progress` and `stdout` lines are shown at once, the single
 * `result` line is its answer. `broken` aborts at the first other line, and at anything after the result.
 */
export class StreamReader {
  readonly #context: Pick<ToolContext, 'emit'>;
  readonly #lines: LineSplitter;
  readonly #broken = new AbortController();
  #answer: StreamedAnswer | undefined;

  constructor(context: Pick<ToolContext, 'emit'>, maxLineBytes: number) {
    this.#context = context;
    this.#lines = new LineSplitter(maxLineBytes);
  }

  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  /** Its promise is pending while the reader is slower than the program. */
  push(chunk: Uint8Array): void | Promise<void> {
    const lines = this.#lines.push(chunk);
    // A program that writes too much is ended by the total output limit.
    const shown = (lines ?? []).map((line) => this.#take(line)).filter((part) => part instanceof Promise);
    return shown.length === 0 ? undefined : Promise.all(shown).then(() => undefined);
  }

  /** Call it when the program has ended. */
  end(): StreamedAnswer {
    // The last line need not end in a line break.
    if (!this.#lines.isEmpty) void this.#take(this.#lines.take());
    return this.#answer ?? { fault: 'it gave no result' };
  }

  #take(bytes: Uint8Array): void | Promise<void> {
    if (this.#broken.signal.aborted) return undefined;
    if (this.#answer !== undefined) return this.#fail('it wrote more after its result');
    const line = readToolLine(bytes);
    if ('fault' in line) return this.#fail(line.fault);
    if (line.type === 'progress' || line.type === 'stdout') return this.#context.emit(line.text, 'stdout');
    if (line.type === 'result') this.#answer = { value: line.value };
    else if (line.type === 'error') this.#answer = { error: line.message };
    else return this.#fail('it wrote "pong" without being asked');
    return undefined;
  }

  #fail(fault: string): void {
    this.#answer = { fault };
    this.#broken.abort();
  }
}
