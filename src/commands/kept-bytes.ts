import type { KeptOutput } from '../contract/processes.js';

/** The first and last bytes of a stream, in bounded memory. */
export interface KeptBytes {
  push(chunk: Uint8Array): void;
  /** Decodes the kept bytes. Nothing may be pushed afterwards. */
  end(): KeptOutput;
}

/** Keeps up to `keepBytes` bytes: everything while it fits, then the first and the last half. */
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

/** Decoded only at the end, and only the kept part: decoding every chunk costs 80 % of the speed. */
function decode(bytes: Buffer): string {
  return bytes.toString('utf8');
}

/** Takes bytes up to `limit`. */
function createGrowing(limit: number) {
  let buffer: Buffer = Buffer.alloc(0);
  let length = 0;
  return {
    /** Returns the number of bytes taken. */
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

/** Holds the last `limit` bytes: it fills up once, then overwrites the oldest. */
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

/** The end of the last complete character. */
export function endOfCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    return lengthByLead(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** The start of the first complete character. */
function startOfCharacters(bytes: Uint8Array): number {
  for (let at = 0; at <= Math.min(3, bytes.length - 1); at++) {
    if (!isContinuation(bytes[at] ?? 0)) return at;
  }
  // Four continuation bytes in a row are not UTF-8, so no character was cut.
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

/** How many bytes at the start, and at the end, are examined. */
const SAMPLE = 8192;
/** Above this share, the sample is not text. NUL-separated names stay well below it. */
const MOST_STRANGE = 0.3;
const FEW_BYTES = 16;

/**
 * Whether bytes are not text: programs, images, archives, UTF-16. A stray byte in a log, or NUL-terminated
 * names (`find -print0`), still count as text.
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

/** The length of the character that starts here; 0 if none does. One cut off at the end counts. */
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

/** Control characters that text does not contain; colours and tabs are not included. */
function isControl(byte: number): boolean {
  return (byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b) || byte === 0x7f;
}
