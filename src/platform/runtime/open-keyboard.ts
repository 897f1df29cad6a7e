import { openSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { systemClock } from '../clock/clock.js';

/** The keyboard of the person in front, whatever standard input is. */
export interface Keyboard {
  /**
   * The next line without its end, and all lines that come with it at once; undefined when there will be none (Ctrl-D).
   * Rejects when `signal` aborts.
   * @param draw called when everything that was typed before is forgotten: what comes then is the answer
   */
  readLine(draw: Draw, signal: AbortSignal): Promise<string | undefined>;
  /**
   * The next key as it is typed: a character, or the sequence of an arrow; Ctrl-C is `\u0003`, Escape `\u001b`. Keys that
   * come at once are one text, but for a key with Enter, which is that key; Ctrl-C among them is all that counts. Nothing
   * is echoed. Undefined when the terminal has gone.
   */
  readKey(draw: Draw, signal: AbortSignal): Promise<string | undefined>;
  /** Leaves the terminal to another program: what is typed meanwhile is that program's. */
  lend<T>(action: () => Promise<T>): Promise<T>;
  close(): void;
}

/** Draws a prompt. @param isEarly keys have come before it, and are forgotten */
export type Draw = (isEarly: boolean) => void;

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

/** Nothing was typed before if nothing comes for so long. */
const SILENCE_MS = 30;
/** A person who is typing something else has to see the question first. */
const TYPING_MS = 600;
const LONGEST_DISCARD_MS = 5_000;
/** Keys that come closer together are a paste, or a key that is held down. */
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
    // It is no answer to a question, and ends it all the same.
    if (early.includes(CTRL_C)) return CTRL_C;
    draw(early !== '');
    const typed = await this.#read(signal, () => this.#text !== '');
    if (typed?.includes(CTRL_C) === true) return CTRL_C;
    // Programs that answer for a person end what they type with Enter.
    return /^([!-~])(?:\r\n?|\n)$/.exec(typed ?? '')?.[1] ?? typed;
  }

  /** @returns what it was */
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

  /** All that is typed until there is an answer in it, and what comes with that at once. */
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
