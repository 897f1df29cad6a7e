/** The end of a line. Each message of the protocol is one line. */
const NEWLINE = 10;

/**
 * Holds the chunks of a line back until the line is complete. The SDK's buffer copies and searches everything it holds
 * with each chunk, so a line of 60 MB would block the process for many seconds.
 */
export class WholeLines {
  readonly #mostBytes: number;
  #held: Uint8Array[] = [];
  #size = 0;

  /** @param mostBytes a longer line is passed on before its end, so that the reader can refuse it */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** @returns all complete lines; undefined: no line is complete yet */
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
