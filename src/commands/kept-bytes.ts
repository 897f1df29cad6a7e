import type { KeptOutput } from '../contract/processes.js';
import { endOfCharacters, startOfCharacters } from './character-bounds.js';
import { looksBinary } from './looks-binary.js';

/** The first and the last bytes of a stream, in memory that does not grow with it. */
export interface KeptBytes {
  push(chunk: Uint8Array): void;
  /** Decodes what was kept. Nothing may be pushed afterwards. */
  end(): KeptOutput;
}

/** Keeps `keepBytes` bytes: everything while they suffice, afterwards the first and the last half. */
export function createKeptBytes(keepBytes: number): KeptBytes {
  const head = createGrowing(Math.ceil(keepBytes / 2));
  const tail = createRing(Math.floor(keepBytes / 2));
  let totalBytes = 0;
  return {
    push(chunk) {
      totalBytes += chunk.length;
      const taken = head.push(chunk);
      if (taken < chunk.length) tail.push(chunk.subarray(taken));
    },
    end() {
      const first = head.bytes();
      const last = tail.bytes();
      if (first.length + last.length === totalBytes) {
        const whole = Buffer.concat([first, last]);
        return { head: decode(whole), tail: '', totalBytes, omittedBytes: 0, binary: looksBinary(whole) };
      }
      const start = first.subarray(0, endOfCharacters(first));
      const rest = last.subarray(startOfCharacters(last));
      const omittedBytes = totalBytes - start.length - rest.length;
      const binary = looksBinary(first) || looksBinary(last);
      return { head: decode(start), tail: decode(rest), totalBytes, omittedBytes, binary };
    },
  };
}

/** Decoded at the end only, and only what was kept: decoding every chunk costs four fifths of the speed. */
function decode(bytes: Buffer): string {
  return bytes.toString('utf8');
}

/** Takes bytes until it holds `limit` of them. */
function createGrowing(limit: number) {
  let buffer: Buffer = Buffer.alloc(0);
  let length = 0;
  return {
    /** Gives the number of bytes it took. */
    push(chunk: Uint8Array): number {
      const taken = Math.min(chunk.length, limit - length);
      if (taken === 0) return 0;
      if (length + taken > buffer.length) buffer = grown(buffer, length, length + taken, limit);
      buffer.set(taken === chunk.length ? chunk : chunk.subarray(0, taken), length);
      length += taken;
      return taken;
    },
    bytes: () => buffer.subarray(0, length),
  };
}

function grown(buffer: Buffer, length: number, needed: number, limit: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.min(limit, Math.max(needed, 2 * buffer.length)));
  larger.set(buffer.subarray(0, length));
  return larger;
}

/** Holds the last `limit` bytes: fills up once, then writes over the oldest. */
function createRing(limit: number) {
  const filling = createGrowing(limit);
  let oldest = 0;
  function overwrite(bytes: Buffer, chunk: Uint8Array): void {
    const last = chunk.length > limit ? chunk.subarray(chunk.length - limit) : chunk;
    const untilEnd = Math.min(last.length, limit - oldest);
    bytes.set(last.subarray(0, untilEnd), oldest);
    bytes.set(last.subarray(untilEnd), 0);
    oldest = (oldest + last.length) % limit;
  }
  return {
    push(chunk: Uint8Array): void {
      const taken = filling.push(chunk);
      if (taken < chunk.length && limit > 0) overwrite(filling.bytes(), chunk.subarray(taken));
    },
    bytes(): Buffer {
      const bytes = filling.bytes();
      return oldest === 0 ? bytes : Buffer.concat([bytes.subarray(oldest), bytes.subarray(0, oldest)]);
    },
  };
}
