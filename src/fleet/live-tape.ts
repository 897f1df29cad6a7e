import type { Clock, Logger } from '../contract/context.js';
import type { CallKey, Journal, LiveText } from '../contract/journal.js';
import { reasonOf } from '../executor/answer/results.js';
import { idleClock } from '../platform/clock/clock.js';

type Stream = LiveText['stream'];

/** The pause between two writes of a call, in milliseconds. */
const PAUSE_MS = 100;
/** How much text may wait to be written, in UTF-16 units. Beyond that, the oldest is dropped. */
const MOST_WAITING = 64 * 1024;
/** The size of a text, in UTF-16 units. */
const MOST_TEXT = 16 * 1024;
/** How long a result waits for the last write, in milliseconds. */
const LAST_WRITE_MS = 500;

interface TapeParts {
  readonly journal: Pick<Journal, 'print'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}

/**
 * Writes the output of a running call to the journal, for readers in other processes.
 *
 * 1. It never slows the tool down. Text that it cannot write is dropped, and readers recognise the gap by the offsets.
 * 2. The last text is written before the result, unless the journal is slow.
 */
export class LiveTape {
  readonly #key: CallKey;
  readonly #parts: TapeParts;
  #waiting: LiveText[] = [];
  #size = 0;
  /** The length of the whole output so far. */
  #place = 0;
  #forget: (() => void) | undefined;
  #writing: Promise<void> | undefined;

  constructor(key: CallKey, parts: TapeParts) {
    this.#key = key;
    this.#parts = parts;
  }

  push(stream: Stream, text: string): void {
    for (let at = 0; at < text.length; at += MOST_TEXT) this.#add(stream, text.slice(at, at + MOST_TEXT));
    this.#forget ??= idleClock.after(PAUSE_MS, () => {
      this.#forget = undefined;
      this.#writing ??= this.#write().finally(() => {
        this.#writing = undefined;
      });
    });
  }

  /** Writes the remaining text. Undefined if no text remains. */
  end(): Promise<void> | undefined {
    this.#forget?.();
    if (this.#waiting.length === 0 && this.#writing === undefined) return undefined;
    const written = (this.#writing ?? Promise.resolve()).then(() => this.#write());
    return new Promise((resolve) => {
      const forget = idleClock.after(LAST_WRITE_MS, resolve);
      void written.then(() => {
        forget();
        resolve();
      });
    });
  }

  #add(stream: Stream, text: string): void {
    const last = this.#waiting.at(-1);
    const from = this.#place;
    this.#place += text.length;
    this.#size += text.length;
    if (last?.stream === stream && last.text.length + text.length <= MOST_TEXT)
      this.#waiting[this.#waiting.length - 1] = { ...last, text: last.text + text };
    else this.#waiting.push({ key: this.#key, stream, from, text });
    while (this.#size > MOST_WAITING) this.#size -= this.#waiting.shift()?.text.length ?? this.#size;
  }

  async #write(): Promise<void> {
    const { journal, clock, logger } = this.#parts;
    if (this.#waiting.length === 0) return;
    const texts = this.#waiting;
    this.#waiting = [];
    this.#size = 0;
    try {
      await journal.print?.(texts, clock.now());
    } catch (error) {
      logger.warn({ call: this.#key, why: reasonOf(error) }, 'live output of a call was not kept');
    }
  }
}
