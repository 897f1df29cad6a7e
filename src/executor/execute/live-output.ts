import type { ToolCall } from '../../contract/call.js';
import { createRedactor } from '../../output/create-redactor.js';
import { createSanitizer } from '../../output/sanitize.js';
import type { BatchScope } from '../call/batch-scope.js';

type Stream = 'stdout' | 'stderr';

/** Whether the output has a reader while the call runs: of the batch's events, or in another process. */
export function isShown({ observer, taken }: BatchScope): boolean {
  return observer?.isRead === true || taken?.printed !== undefined;
}

/**
 * The output that is shown while a call runs: decoded across chunk borders, controls neutralised, known
 * secrets redacted (D077).
 */
export class LiveOutput {
  readonly #call: ToolCall;
  readonly #scope: BatchScope;
  readonly #pipes = new Map<Stream, { push(chunk: Uint8Array | string): string; end(): string }>();
  #ended = false;

  constructor(call: ToolCall, scope: BatchScope) {
    this.#call = call;
    this.#scope = scope;
  }

  push(stream: Stream, chunk: Uint8Array | string): void | Promise<void> {
    if (this.#ended) return undefined;
    const text = this.#pipe(stream).push(chunk);
    return text === '' ? undefined : this.#show(stream, text);
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const [stream, pipe] of this.#pipes) {
      const text = pipe.end();
      if (text !== '') void this.#show(stream, text);
    }
  }

  #show(stream: Stream, text: string): void | Promise<void> {
    const { observer, taken } = this.#scope;
    taken?.printed?.(stream, text);
    return observer?.output(this.#call, stream, text);
  }

  #pipe(stream: Stream): { push(chunk: Uint8Array | string): string; end(): string } {
    let pipe = this.#pipes.get(stream);
    if (pipe === undefined) {
      const sanitizer = createSanitizer('output');
      const redactor = createRedactor(this.#scope.settings.secretValues);
      pipe = {
        push: (chunk) => redactor.push(sanitizer.push(chunk)),
        end: () => redactor.push(sanitizer.end()) + redactor.end(),
      };
      this.#pipes.set(stream, pipe);
    }
    return pipe;
  }
}
