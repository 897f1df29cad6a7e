/** The end of a line. A message of the protocol is one line. */
const NEWLINE = 10;

/**
 * Holds the chunks of a line back until the line ends. The SDK's buffer copies and searches all that it holds with each
 * chunk, so that one line of 60 MB blocks the process for many seconds.
 */
export class WholeLines {
  readonly #mostBytes: number;
  #held: Uint8Array[] = [];
  #size = 0;

  /** @param mostBytes a longer line is given out before its end, for the reader to refuse */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** @returns all lines that have ended; undefined: no line has ended yet */
  take(chunk: Uint8Array): Buffer | undefined {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    const isTooLong = this.#size + chunk.length > this.#mostBytes;
    if (end === 0 && !isTooLong) {
      this.#hold(chunk);
      return undefined;
    }
    const cut = end === 0 ? chunk.length : end;
    const whole = Buffer.concat([...this.#held, chunk.subarray(0, cut)]);
    this.#held = [];
    this.#size = 0;
    if (cut < chunk.length) this.#hold(chunk.subarray(cut));
    return whole;
  }

  #hold(chunk: Uint8Array): void {
    this.#held.push(Uint8Array.from(chunk));
    this.#size += chunk.length;
  }
}
