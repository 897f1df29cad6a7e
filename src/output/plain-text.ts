import { KIND } from './character-kind.js';

/** The longest piece that `plainText` takes, in bytes. */
export const PLAIN_PIECE_BYTES = 65_536;

// Four bytes at once. A bit is set in each byte that is below a blank, DEL, or not ASCII, and sometimes in
// others.
const BLANKS = 0x20202020;
const ONES = 0x01010101;
const HIGH_BITS = 0x80808080;

const LINE_FEED = 0x0a;
const LINE_FEEDS = 0x0a0a0a0a;
// Added to a byte, these set its high bit if it is at least a blank, and if it is not zero.
const LIFTS_BLANK = 0x60606060;
const LIFTS_ONE = 0x7f7f7f7f;

// Room for the first bytes of a character from the previous piece.
const units = new Uint16Array(PLAIN_PIECE_BYTES + 4);
const unitBytes = Buffer.from(units.buffer);

/**
 * The text of complete UTF-8 characters, if all of them are shown unchanged; undefined means that the slow
 * path is needed. Optimized: nearly all output is plain, and V8 decodes non-ASCII text at half the speed of
 * this loop.
 */
export function plainText(bytes: Uint8Array, kinds: Uint8Array): string | undefined {
  if (isPlainAscii(bytes, kinds)) return toBuffer(bytes).toString('latin1');
  const count = bytes.length <= units.length ? decodePlain(bytes, kinds) : 0;
  return count === 0 ? undefined : unitBytes.toString('utf16le', 0, count * 2);
}

function isPlainAscii(bytes: Uint8Array, kinds: Uint8Array): boolean {
  const length = bytes.length;
  // Too short to contain an aligned word.
  if (length < 8) return areShown(bytes, 0, length, kinds);
  const wordsFrom = -bytes.byteOffset & 3;
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + wordsFrom, (length - wordsFrom) >> 2);
  const wordsTo = wordsFrom + words.length * 4;
  const linesAreShown = kinds[LINE_FEED] === KIND.text;
  if (!areShown(bytes, 0, wordsFrom, kinds) || !areShown(bytes, wordsTo, length, kinds)) return false;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? 0;
    if (((word | (word - BLANKS) | (word + ONES)) & HIGH_BITS) === 0) continue;
    if (linesAreShown && isPlainWithLines(word)) continue;
    const at = wordsFrom + index * 4;
    if (!areShown(bytes, at, at + 4, kinds)) return false;
  }
  return true;
}

/** Whether each of four bytes is printable ASCII or a line feed, which occurs every few words. */
function isPlainWithLines(word: number): boolean {
  if ((word & HIGH_BITS) !== 0) return false;
  // No byte carries into the next: all are below 128, and so is each addend, less one.
  const below = ~(word + LIFTS_BLANK) & HIGH_BITS;
  const lines = ~((word ^ LINE_FEEDS) + LIFTS_ONE) & HIGH_BITS;
  return ((below & ~lines) | ((word + ONES) & HIGH_BITS)) === 0;
}

function areShown(bytes: Uint8Array, from: number, to: number, kinds: Uint8Array): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    if (byte > 0x7f || kinds[byte] !== KIND.text) return false;
  }
  return true;
}

/** Fills `units` and returns their number, or 0 at the first sequence that is malformed or not plain. */
function decodePlain(bytes: Uint8Array, kinds: Uint8Array): number {
  const length = bytes.length;
  let count = 0;
  let at = 0;
  while (at < length) {
    const lead = bytes[at++] ?? 0;
    if (lead < 0x80) {
      if (kinds[lead] !== KIND.text) return 0;
      units[count++] = lead;
      continue;
    }
    if (lead >= 0xf0) {
      const codePoint = astral(lead, bytes[at++] ?? 0, bytes[at++] ?? 0, bytes[at++] ?? 0);
      if (codePoint < 0x10000 || codePoint > 0x10ffff) return 0;
      const high = 0xd7c0 + (codePoint >> 10);
      if (kinds[high] !== KIND.pair) return 0;
      units[count++] = high;
      units[count++] = 0xdc00 | (codePoint & 0x3ff);
      continue;
    }
    let unit = 0;
    if (lead >= 0xe0) {
      // A valid continuation byte is below 64 without its mark; any other byte stays above.
      const second = (bytes[at++] ?? 0) ^ 0x80;
      const third = (bytes[at++] ?? 0) ^ 0x80;
      unit = ((lead & 0x0f) << 12) | (second << 6) | third;
      if ((second | third) > 0x3f || unit < 0x800) return 0;
    } else {
      const second = (bytes[at++] ?? 0) ^ 0x80;
      if (lead < 0xc2 || second > 0x3f) return 0;
      unit = ((lead & 0x1f) << 6) | second;
    }
    if (kinds[unit] !== KIND.text) return 0;
    units[count++] = unit;
  }
  return count;
}

/** The code point of four bytes, or 0. */
function astral(lead: number, second: number, third: number, fourth: number): number {
  if (((second ^ 0x80) | (third ^ 0x80) | (fourth ^ 0x80)) > 0x3f) return 0;
  return ((lead & 0x0f) << 18) | ((second & 0x3f) << 12) | ((third & 0x3f) << 6) | (fourth & 0x3f);
}

interface Utf8Splitter {
  /** The characters that are complete; a view of the chunk if no copy is needed. */
  take(chunk: Uint8Array): Uint8Array;
  /** The rest of an incomplete character: U+FFFD, or nothing. */
  end(): string;
}

/**
 * Splits bytes between UTF-8 characters, so that decoding the parts gives the text of the whole. An
 * incomplete character waits for its rest.
 */
export function createUtf8Splitter(): Utf8Splitter {
  let unfinished: Uint8Array | undefined;
  return {
    take(chunk) {
      const bytes = unfinished === undefined ? chunk : Buffer.concat([unfinished, chunk]);
      const end = completeLength(bytes);
      // A copy, because the caller may reuse the buffer.
      unfinished = end === bytes.length ? undefined : Uint8Array.from(bytes.subarray(end));
      return end === bytes.length ? bytes : bytes.subarray(0, end);
    },
    end() {
      const rest = unfinished === undefined ? '' : toBuffer(unfinished).toString('utf8');
      unfinished = undefined;
      return rest;
    },
  };
}

/** A view as a Buffer, without copying. */
export function toBuffer(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

/** The start of the last character if it is incomplete, else the length. */
function completeLength(bytes: Uint8Array): number {
  const length = bytes.length;
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back] ?? 0;
    if (byte < 0x80) return length;
    if (byte >= 0xc0) return bytesOf(byte) > back ? length - back : length;
  }
  return length;
}

function bytesOf(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}
