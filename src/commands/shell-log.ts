import { endOfCharacters, looksBinary } from './kept-bytes.js';

const BLOCK = 64 * 1024;

interface Block {
  readonly bytes: Buffer;
  length: number;
}

/** What was read of a log. */
export interface LogReading {
  readonly bytes: Buffer;
  /** Bytes before these that were not read in time. */
  readonly droppedBytes: number;
}

/**
 * The newest bytes of one stream of a background shell, and how far they were read. Takes memory for `limit` bytes at
 * most: then the oldest go, read or not. Positions count from the stream's start, in bytes.
 */
export class ShellLog {
  readonly #limit: number;
  #blocks: Block[] = [];
  #start = 0;
  #end = 0;
  #readTo = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Everything that came, kept or not. */
  get totalBytes(): number {
    return this.#end;
  }

  /** How far it was read. */
  get readTo(): number {
    return this.#readTo;
  }

  /** Whether older bytes are gone. */
  get truncated(): boolean {
    return this.#oldest() > 0;
  }

  /** Copies: what it is given is cut out of larger buffers, which would all stay. */
  push(chunk: Uint8Array): void {
    const room = this.#limit;
    let rest = chunk.length > room ? chunk.subarray(chunk.length - room) : chunk;
    if (rest !== chunk) this.#forget(chunk.length - rest.length);
    while (rest.length > 0) {
      const block = this.#lastBlock();
      const taken = Math.min(rest.length, block.bytes.length - block.length);
      block.bytes.set(rest.subarray(0, taken), block.length);
      block.length += taken;
      this.#end += taken;
      rest = rest.subarray(taken);
    }
    this.#trim();
  }

  /** All that is kept. */
  bytes(): Buffer {
    return this.#slice(this.#oldest(), this.#end);
  }

  /**
   * What is new since the last time. The rest of a character, and of a line if `wholeLines`, waits until it is there,
   * unless `ended`.
   */
  take({ ended, wholeLines }: { readonly ended: boolean; readonly wholeLines: boolean }): LogReading {
    const from = Math.max(this.#readTo, this.#oldest());
    const droppedBytes = from - this.#readTo;
    const fresh = this.#slice(from, this.#end);
    const bytes = ended
      ? fresh
      : fresh.subarray(0, wholeLines ? fresh.lastIndexOf(10) + 1 : endOfCharacters(fresh));
    this.#readTo = from + bytes.length;
    return { bytes, droppedBytes };
  }

  #forget(count: number): void {
    this.#blocks = [];
    this.#end += count;
    this.#start = this.#end;
  }

  #lastBlock(): Block {
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.length < last.bytes.length) return last;
    const block = { bytes: Buffer.allocUnsafeSlow(Math.min(BLOCK, this.#limit)), length: 0 };
    this.#blocks.push(block);
    return block;
  }

  /** Where what is kept begins: the limit is held to the byte, though room is made by whole blocks. */
  #oldest(): number {
    return Math.max(this.#start, this.#end - this.#limit);
  }

  /** Whole blocks only: up to one more than the limit stays in memory. */
  #trim(): void {
    let first = this.#blocks[0];
    while (first !== undefined && this.#end - this.#start - first.length >= this.#limit) {
      this.#blocks.shift();
      this.#start += first.length;
      first = this.#blocks[0];
    }
  }

  #slice(from: number, to: number): Buffer {
    const parts: Buffer[] = [];
    let at = this.#start;
    for (const { bytes, length } of this.#blocks) {
      const [first, last] = [Math.max(from - at, 0), Math.min(to - at, length)];
      if (first < last) parts.push(bytes.subarray(first, last));
      at += length;
    }
    return Buffer.concat(parts);
  }
}

/** Bytes as text; those that are none become U+FFFD. */
export function toText(bytes: Buffer): { readonly text: string; readonly binary: boolean } {
  return { text: bytes.toString('utf8'), binary: looksBinary(bytes) };
}
