import type { KeptOutput } from '../contract/processes.js';

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

/** Where the last character of `bytes` ends that is there in full. */
export function endOfCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    return lengthByLead(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Where the first character of `bytes` starts: behind what is left of one that was cut. */
function startOfCharacters(bytes: Uint8Array): number {
  for (let at = 0; at <= Math.min(3, bytes.length - 1); at++) {
    if (!isContinuation(bytes[at] ?? 0)) return at;
  }
  // Four in a row are in no character: this is not UTF-8, so nothing was cut.
  return bytes.length <= 3 ? bytes.length : 0;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function lengthByLead(byte: number): number {
  if (byte >= 0xf0) return byte <= 0xf4 ? 4 : 1;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc2 ? 2 : 1;
}

/** Bytes at the start, and at the end, that are looked at. */
const SAMPLE = 8192;
/** Of the sample: more of it is in no text. Names that are separated by NUL stay well below. */
const MOST_STRANGE = 0.3;
const FEW_BYTES = 16;

/**
 * Whether bytes are no text of any kind: programs, pictures, archives, UTF-16. A stray byte in a log, or names that
 * end with NUL (`find -print0`), do not make them so.
 */
export function looksBinary(bytes: Uint8Array): boolean {
  if (bytes.length < FEW_BYTES) return false;
  return (
    isStrange(bytes.subarray(0, SAMPLE)) || isStrange(bytes.subarray(Math.max(0, bytes.length - SAMPLE)))
  );
}

function isStrange(sample: Uint8Array): boolean {
  let strange = 0;
  for (let at = 0; at < sample.length; ) {
    const length = characterLength(sample, at);
    if (length === 0 || (length === 1 && isControl(sample[at] ?? 0))) strange++;
    at += Math.max(1, length);
  }
  return strange / sample.length > MOST_STRANGE;
}

/** Bytes of the character that starts here; 0 where none does. One that is cut off at the end counts. */
function characterLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const length =
    lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
  for (let next = 1; next < length && at + next < bytes.length; next++) {
    if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return length;
}

/** Those that no text is written with; colours and tabs are. */
function isControl(byte: number): boolean {
  return (byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b) || byte === 0x7f;
}
