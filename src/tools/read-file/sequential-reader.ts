import { createHash, hash } from 'node:crypto';
import type { ToolContext } from '../../contract/context.js';
import { throwIfAborted, yieldToLoop } from '../yield-to-loop.js';

/** Files up to this size are hashed even for a partial read; larger ones are not remembered as read. */
export const MAX_HASHED_BYTES = 64 * 1024 * 1024;

const CHUNK_BYTES = 256 * 1024;
const YIELD_EVERY_CHUNKS = 16;
const NOTHING = new Uint8Array(0);

/** Hash and size of the whole content. */
export interface ContentDigest {
  readonly sha256: string;
  readonly totalBytes: number;
}

/** Reads a file once from its start and hashes it on the way, so the hash belongs to the shown bytes. */
export class SequentialReader {
  /** The canonical path that was read, if known. */
  canonical: string | undefined;
  readonly #path: string;
  readonly #ctx: ToolContext;
  /** Bytes were skipped, or there are too many, so there is no hash of the whole. */
  #isPartial = false;
  /** Most files are read in one piece, which is hashed at once. */
  #first: Uint8Array | undefined;
  /** The running hash, if there is more than one piece. */
  #hash: ReturnType<typeof createHash> | undefined;
  /** Bytes that were read ahead; they end at `#position`. */
  #ahead: Uint8Array = NOTHING;
  #position = 0;
  #ended = false;
  #chunks = 0;

  constructor(path: string, ctx: ToolContext) {
    this.#path = path;
    this.#ctx = ctx;
  }

  /** The next bytes, at most `length` (may be Infinity); fewer only at the end of the file. */
  async next(length: number): Promise<Uint8Array> {
    const bytes = await this.peek(length);
    this.pass(bytes.length);
    return bytes;
  }

  /** Moves past bytes that were peeked at. */
  pass(count: number): void {
    this.#ahead = this.#ahead.subarray(count);
  }

  /** The next bytes, without moving. */
  async peek(length: number): Promise<Uint8Array> {
    let have = this.#ahead.length;
    if (have >= length || this.#ended) return this.#ahead.subarray(0, length);
    const parts = have === 0 ? [] : [this.#ahead];
    while (have < length && !this.#ended) {
      const chunk = await this.#read(Math.min(CHUNK_BYTES, length - have));
      parts.push(chunk);
      have += chunk.length;
    }
    // One part, the usual case, needs no copy.
    this.#ahead = parts.length > 1 ? Buffer.concat(parts, have) : (parts[0] ?? NOTHING);
    return this.#ahead.subarray(0, length);
  }

  /**
   * Continues at byte `offset`, which must not be earlier. Far jumps skip bytes, and then there is no hash.
   */
  async skipTo(offset: number): Promise<void> {
    const held = this.#position - this.#ahead.length;
    this.#ahead = this.#ahead.subarray(Math.min(this.#ahead.length, offset - held));
    if (offset > MAX_HASHED_BYTES && offset > this.#position) {
      this.#isPartial = true;
      this.#position = offset;
    }
    while (this.#position < offset && !this.#ended) {
      await this.#read(Math.min(CHUNK_BYTES, offset - this.#position));
    }
  }

  /** Reads to the end; undefined if the file is too large to hash, or was not read from its start. */
  async digest(): Promise<ContentDigest | undefined> {
    if (!this.#isPartial && !this.#ended && (await this.#isTooLarge())) return undefined;
    while (!this.#isPartial && !this.#ended) await this.#read(CHUNK_BYTES);
    if (this.#isPartial) return undefined;
    const sha256 = this.#hash?.digest('hex') ?? hash('sha256', this.#first ?? NOTHING);
    this.#isPartial = true;
    return { sha256, totalBytes: this.#position };
  }

  /** Checked first, so that a small range of a huge file does not read megabytes in vain. */
  async #isTooLarge(): Promise<boolean> {
    const stat = await this.#ctx.files.stat(this.#path);
    return stat.type === 'file' && stat.size > MAX_HASHED_BYTES;
  }

  async #read(length: number): Promise<Uint8Array> {
    // A small file is read at once; a signal is only created for longer reads.
    if (this.#chunks > 0) throwIfAborted(this.#ctx);
    if (++this.#chunks % YIELD_EVERY_CHUNKS === 0) await yieldToLoop(this.#ctx);
    const { files } = this.#ctx;
    const range = { offset: this.#position, length };
    const placed = await files.readPlaced?.(this.#path, range);
    const bytes = placed?.bytes ?? (await files.read(this.#path, range));
    this.canonical = placed?.path;
    this.#position += bytes.length;
    if (bytes.length < length) this.#ended = true;
    if (this.#position > MAX_HASHED_BYTES) this.#isPartial = true;
    if (!this.#isPartial) this.#take(bytes);
    return bytes;
  }

  #take(bytes: Uint8Array): void {
    if (this.#first === undefined) {
      this.#first = bytes;
      return;
    }
    this.#hash ??= createHash('sha256').update(this.#first);
    this.#hash.update(bytes);
  }
}
