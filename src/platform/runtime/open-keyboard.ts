import { openSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { systemClock } from '../clock/clock.js';

/** The keyboard of the person at the terminal, whatever standard input is. */
export interface Keyboard {
  /**
   * The next line without its line end, together with all lines that arrive at the same moment; undefined if
   * there will be none (Ctrl-D). Rejects if `signal` aborts.
   * @param draw called when everything typed earlier has been discarded: only later input is the answer
   */
  readLine(draw: Draw, signal: AbortSignal): Promise<string | undefined>;
  /**
   * The next key: a character, or the escape sequence of an arrow key. Ctrl-C is `\u0003`, Escape is
   * `\u001b`. Keys that arrive at the same moment are one text, with two exceptions: a key followed by Enter
   * is that key, and Ctrl-C among others is Ctrl-C alone. Nothing is echoed. Undefined if the terminal is
   * gone.
   */
  readKey(draw: Draw, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Gives the terminal to another program while the action runs, which gets everything that is typed in this
   * time.
   */
  lend<T>(action: () => Promise<T>): Promise<T>;
  close(): void;
}

/** Draws a prompt. @param isEarly keys were typed before it, and have been discarded */
export type Draw = (isEarly: boolean) => void;

/** Undefined if this process has no terminal. */
export function openKeyboard(): Keyboard | undefined {
  const stream = openTerminal();
  return stream === undefined ? undefined : new TerminalKeyboard(stream);
}

function openTerminal(): ReadStream | undefined {
  try {
    // A separate descriptor: standard input may be the model's response.
    return new ReadStream(openSync(process.platform === 'win32' ? 'CONIN$' : '/dev/tty', 'r'));
  } catch {
    return undefined;
  }
}

/** If nothing arrives for this long, nothing was typed earlier. */
const SILENCE_MS = 30;
/** A person who is typing something else has to see the question first. */
const TYPING_MS = 600;
const LONGEST_DISCARD_MS = 5_000;
/** Keys that arrive closer together come from a paste, or from a key that is held down. */
const AT_ONCE_MS = 40;

class TerminalKeyboard implements Keyboard {
  #stream: ReadStream;
  #text = '';
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(stream: ReadStream) {
    this.#stream = stream;
    this.#listen();
  }

  async readLine(draw: Draw, signal: AbortSignal): Promise<string | undefined> {
    const early = await this.#forgetTyped(signal);
    if (early.includes(CTRL_C)) return CTRL_C;
    this.#setRaw(false);
    draw(early !== '');
    const typed = await this.#read(signal, () => /[\r\n]/.test(this.#text));
    return typed?.replace(/\r\n?/g, '\n').replace(/\n[^\n]*$/, '');
  }

  async readKey(draw: Draw, signal: AbortSignal): Promise<string | undefined> {
    const early = await this.#forgetTyped(signal);
    // It does not answer a question, but it still ends the program.
    if (early.includes(CTRL_C)) return CTRL_C;
    draw(early !== '');
    const typed = await this.#read(signal, () => this.#text !== '');
    if (typed?.includes(CTRL_C) === true) return CTRL_C;
    // Programs that answer in place of a person end their input with Enter.
    return /^([!-~])(?:\r\n?|\n)$/.exec(typed ?? '')?.[1] ?? typed;
  }

  /** @returns the discarded input */
  async #forgetTyped(signal: AbortSignal): Promise<string> {
    this.#setRaw(true);
    const end = systemClock.monotonic() + LONGEST_DISCARD_MS;
    let length = -1;
    while (length !== this.#text.length && systemClock.monotonic() < end && !this.#ended) {
      length = this.#text.length;
      await pause(length === 0 ? SILENCE_MS : TYPING_MS);
      signal.throwIfAborted();
    }
    const typed = this.#text;
    this.#text = '';
    return typed;
  }

  async lend<T>(action: () => Promise<T>): Promise<T> {
    this.#setRaw(false);
    // A stream that is only paused would still consume typed input.
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
      // The terminal is gone: reading will report it.
    }
  }

  /** Everything typed until it contains an answer, and what arrives together with that. */
  async #read(signal: AbortSignal, isAnswer: () => boolean): Promise<string | undefined> {
    const wake = (): void => this.#wake?.();
    signal.addEventListener('abort', wake, { once: true });
    try {
      for (;;) {
        signal.throwIfAborted();
        if (isAnswer()) return await this.#takeAll(signal);
        if (this.#ended) return undefined;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  async #takeAll(signal: AbortSignal): Promise<string> {
    let length = -1;
    while (length !== this.#text.length) {
      length = this.#text.length;
      await pause(AT_ONCE_MS);
      signal.throwIfAborted();
    }
    const taken = this.#text;
    this.#text = '';
    return taken;
  }
}

const CTRL_C = '\u0003';

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    systemClock.after(ms, resolve);
  });
}
