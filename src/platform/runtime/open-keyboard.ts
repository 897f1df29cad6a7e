import { openSync } from 'node:fs';
import { ReadStream } from 'node:tty';

/** The keyboard of the person in front, whatever standard input is. */
export interface Keyboard {
  /** The next line without its end; undefined when there will be none (Ctrl-D). Rejects when `signal` aborts. */
  readLine(signal: AbortSignal): Promise<string | undefined>;
  close(): void;
}

/** Undefined when no terminal belongs to this process. */
export function openKeyboard(): Keyboard | undefined {
  const stream = openTerminal();
  if (stream === undefined) return undefined;
  stream.setEncoding('utf8');
  const lines = new LineReader(stream);
  return { readLine: (signal) => lines.next(signal), close: () => stream.destroy() };
}

function openTerminal(): ReadStream | undefined {
  try {
    // A descriptor of our own: standard input may be the response.
    return new ReadStream(openSync(process.platform === 'win32' ? 'CONIN$' : '/dev/tty', 'r'));
  } catch {
    return undefined;
  }
}

class LineReader {
  #text = '';
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(stream: ReadStream) {
    const end = (): void => {
      this.#ended = true;
      this.#wake?.();
    };
    stream.on('data', (chunk) => {
      this.#text += String(chunk);
      this.#wake?.();
    });
    stream.on('end', end);
    stream.on('error', end);
  }

  async next(signal: AbortSignal): Promise<string | undefined> {
    const wake = (): void => this.#wake?.();
    signal.addEventListener('abort', wake, { once: true });
    try {
      for (;;) {
        signal.throwIfAborted();
        const end = this.#text.indexOf('\n');
        if (end !== -1) return this.#take(end);
        if (this.#ended) return undefined;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  #take(end: number): string {
    const line = this.#text.slice(0, end).replace(/\r$/, '');
    this.#text = this.#text.slice(end + 1);
    return line;
  }
}
