import { openSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { systemClock } from '../clock/clock.js';

/** The keyboard of the person in front, whatever standard input is. */
export interface Keyboard {
  /** The next line without its end; undefined when there will be none (Ctrl-D). Rejects when `signal` aborts. */
  readLine(signal: AbortSignal): Promise<string | undefined>;
  /**
   * The next key as it is typed: a character, or the sequence of an arrow; Ctrl-C is `\u0003`, Escape `\u001b`. Nothing is
   * echoed. Undefined when the terminal has gone.
   */
  readKey(signal: AbortSignal): Promise<string | undefined>;
  /** Leaves the terminal to another program: what is typed meanwhile is that program's. */
  lend<T>(action: () => Promise<T>): Promise<T>;
  /** Forgets what was typed so far. */
  discardTyped(): Promise<void>;
  close(): void;
}

/** Undefined when no terminal belongs to this process. */
export function openKeyboard(): Keyboard | undefined {
  const stream = openTerminal();
  return stream === undefined ? undefined : new TerminalKeyboard(stream);
}

function openTerminal(): ReadStream | undefined {
  try {
    // A descriptor of our own: standard input may be the response.
    return new ReadStream(openSync(process.platform === 'win32' ? 'CONIN$' : '/dev/tty', 'r'));
  } catch {
    return undefined;
  }
}

/** As long as nothing comes for so long, nothing was typed before. */
const SILENCE_MS = 30;
const LONGEST_DISCARD_MS = 300;

class TerminalKeyboard implements Keyboard {
  #stream: ReadStream;
  #text = '';
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(stream: ReadStream) {
    this.#stream = stream;
    this.#listen();
  }

  readLine(signal: AbortSignal): Promise<string | undefined> {
    this.#setRaw(false);
    return this.#read(signal, () => {
      const end = /\r?\n|\r/.exec(this.#text);
      return end === null ? undefined : this.#take(end.index, end[0].length);
    });
  }

  readKey(signal: AbortSignal): Promise<string | undefined> {
    this.#setRaw(true);
    return this.#read(signal, () => {
      const [key] = KEY.exec(this.#text) ?? [];
      return key === undefined ? undefined : this.#take(key.length, 0);
    });
  }

  async discardTyped(): Promise<void> {
    this.#setRaw(true);
    const end = systemClock.monotonic() + LONGEST_DISCARD_MS;
    let length = -1;
    while (length !== this.#text.length && systemClock.monotonic() < end) {
      length = this.#text.length;
      await new Promise<void>((resolve) => {
        systemClock.after(SILENCE_MS, resolve);
      });
    }
    this.#text = '';
  }

  async lend<T>(action: () => Promise<T>): Promise<T> {
    this.#setRaw(false);
    // A stream that is only paused goes on taking what is typed.
    this.#stream.destroy();
    try {
      return await action();
    } finally {
      this.#reopen();
    }
  }

  close(): void {
    this.#setRaw(false);
    this.#stream.destroy();
  }

  #reopen(): void {
    const stream = openTerminal();
    if (stream === undefined) {
      this.#ended = true;
      return;
    }
    this.#stream = stream;
    this.#listen();
  }

  #listen(): void {
    const stream = this.#stream;
    const end = (): void => {
      this.#ended = true;
      this.#wake?.();
    };
    stream.setEncoding('utf8');
    stream.on('data', (chunk) => {
      this.#text += String(chunk);
      this.#wake?.();
    });
    stream.on('end', end);
    stream.on('error', end);
  }

  #setRaw(isRaw: boolean): void {
    if (this.#stream.destroyed || this.#stream.isRaw === isRaw) return;
    try {
      this.#stream.setRawMode(isRaw);
    } catch {
      // The terminal has gone away: reading says so.
    }
  }

  async #read(signal: AbortSignal, next: () => string | undefined): Promise<string | undefined> {
    const wake = (): void => this.#wake?.();
    signal.addEventListener('abort', wake, { once: true });
    try {
      for (;;) {
        signal.throwIfAborted();
        const found = next();
        if (found !== undefined) return found;
        if (this.#ended) return undefined;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  #take(length: number, skipped: number): string {
    const taken = this.#text.slice(0, length);
    this.#text = this.#text.slice(length + skipped);
    return taken;
  }
}

/** An escape sequence, Escape alone, or one character. */
const KEY = /^(?:\u001b(?:\[[0-?]*[ -/]*[@-~]|O[@-~])?|[\s\S])/u;
