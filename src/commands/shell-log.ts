import { endOfCharacters, looksBinary } from './kept-bytes.js';

const BLOCK = 64 * 1024;

interface Block {
  readonly bytes: Buffer;
  length: number;
}

/** The result of reading a log. */
export interface LogReading {
  readonly bytes: Buffer;
  /** Earlier bytes that were not read in time. */
  readonly droppedBytes: number;
}

/**
 * The newest bytes of one stream of a background shell, and the read position. Uses at most `limit` bytes of
 * memory: then the oldest are dropped, read or not. Positions count from the stream's start, in bytes.
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

  /** All bytes that arrived, kept or not. */
  get totalBytes(): number {
    return this.#end;
  }

  /** The read position. */
  get readTo(): number {
    return this.#readTo;
  }

  /** Whether older bytes were dropped. */
  get truncated(): boolean {
    return this.#oldest() > 0;
  }

  /** Copies the chunk, which is part of a larger buffer that would stay in memory. */
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

  /** All kept bytes. */
  bytes(): Buffer {
    return this.#slice(this.#oldest(), this.#end);
  }

  /**
   * The new bytes since the last call. An incomplete character, and with `wholeLines` an incomplete line,
   * waits for its rest, unless `ended`.
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

  /** The start of the kept bytes: the limit is exact, although memory is freed in blocks. */
  #oldest(): number {
    return Math.max(this.#start, this.#end - this.#limit);
  }

  /** Only whole blocks: up to one block more than the limit stays in memory. */
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

/** Decodes bytes; invalid ones become U+FFFD. */
export function toText(bytes: Buffer): { readonly text: string; readonly binary: boolean } {
  return { text: bytes.toString('utf8'), binary: looksBinary(bytes) };
}
