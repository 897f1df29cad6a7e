/** Shorter texts occur everywhere, so they say nothing about their origin. */
export const LEAST_CHARACTERS = 8;

/**
 * The form in which texts are compared: without white space, invisible characters, case, and Unicode variants. The marks
 * of Markdown are dropped too: a page that says `an_address` is a result that says `an\_address`.
 */
export function normalize(text: string): string {
  if (isAscii(text)) return text.toLowerCase().replace(DROPPED, '');
  const lower = lowerCases();
  return foldVariants(text)
    .replace(DROPPED, '')
    .replace(/[^\0-@[-\x7f]/g, (letter) => String.fromCharCode(lower[letter.charCodeAt(0)] as number));
}

const DROPPED = /[\s\\*`~]+/g;

function foldVariants(text: string): string {
  return text.normalize('NFKC').replace(OTHER_SPACES, '');
}

/** White space beyond ASCII, and characters that no reader sees. */
const OTHER_SPACES = /(?:[^\S\t-\r ]|\p{Default_Ignorable_Code_Point})+/gu;

/** A text to search for, of at least eight characters. Its parts are hashed once for all texts. */
export class WantedText {
  readonly bytes: Buffer;
  readonly #hashes = new Map<Grain, Int32Array>();

  /** @param normalized by `normalize` */
  constructor(normalized: string) {
    this.bytes = Buffer.from(isAscii(normalized) ? normalized : encode(normalized));
  }

  /** The hash of the part at each position. */
  hashes(grain: Grain): Int32Array {
    let known = this.#hashes.get(grain);
    if (known === undefined) {
      const view = viewOf(this.bytes);
      known = new Int32Array(view.byteLength - grain.part + 1).map((_, at) => grain.hash(view, at));
      this.#hashes.set(grain, known);
    }
    return known;
  }
}

/** The set of parts that occur in a text. */
interface Grain {
  /** The size of a part in bytes. */
  readonly part: number;
  /** Bytes from one part to the next. Any eight consecutive bytes cover one part. */
  readonly stride: number;
  /** The minimum number of bits in the set per byte of the text. */
  readonly bits: number;
  hash(view: DataView, at: number): number;
}

const COARSE: Grain = {
  part: 6,
  stride: 3,
  bits: 2,
  hash: (view, at) => mix(view.getInt32(at, true), view.getUint16(at + 4, true)),
};

const FINE: Grain = {
  part: 8,
  stride: 1,
  bits: 4,
  hash: (view, at) => mix(view.getInt32(at, true), view.getInt32(at + 4, true)),
};

function mix(first: number, second: number): number {
  return Math.imul(first ^ Math.imul(second ^ (second >>> 15), 0x85ebca6b), 0x9e3779b1);
}

/**
 * Answers whether a text holds another one, both normalized.
 *
 * 1. A bit set records the parts of the text. If a part of the searched text is missing in it, the text does not occur.
 * 2. Otherwise the text is searched. Its normalized form is computed again each time, because storing it would double
 *    the memory.
 * 3. Nothing is computed before the first question: most results are never asked about. Then a coarse set is created,
 *    and a fine one after the coarse one was wrong.
 */
export class TextIndex {
  readonly #text: string;
  readonly #isAscii: boolean;
  #set: PartSet | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#isAscii = isAscii(text);
  }

  isOf(text: string): boolean {
    return this.#text === text;
  }

  /** The maximum memory in bytes. */
  get size(): number {
    const { length } = this.#text;
    return length * (this.#isAscii ? 1 : 2) + 2 ** logOfBits(length, FINE) / 8 + OVERHEAD;
  }

  /** @returns the position of the first of these texts, before `end`, that occurs here; -1 if none does */
  firstOf(wanted: readonly WantedText[], end = wanted.length): number {
    let bytes: Buffer | undefined;
    for (let at = 0; at < end; at++) {
      const one = wanted[at];
      if (one === undefined || !this.mayHold(one)) continue;
      bytes ??= this.#normalized();
      if (bytes.includes(one.bytes)) return at;
      if (this.#set?.grain === COARSE) this.#set = new PartSet(bytes, FINE);
    }
    return -1;
  }

  /** False: the text certainly does not occur. */
  mayHold(wanted: WantedText): boolean {
    this.#set ??= new PartSet(this.#normalized(), COARSE);
    return this.#set.mayHold(wanted);
  }

  /** The line, counted from 1, in which such a text begins. */
  lineOf({ bytes }: WantedText): number | undefined {
    let left = this.#normalized().indexOf(bytes);
    if (left === -1) return undefined;
    let line = 0;
    // Unicode normalization never crosses a line feed, so lines can be normalized one by one.
    for (const text of this.#text.split('\n')) {
      line++;
      left -= normalizedBytes(text, this.#isAscii || isAscii(text)).length;
      if (left < 0) break;
    }
    return line;
  }

  #normalized(): Buffer {
    return normalizedBytes(this.#text, this.#isAscii);
  }
}

/** A set of hashes of parts. It may contain too many, but never too few. */
class PartSet {
  readonly grain: Grain;
  readonly #bits: Uint32Array;
  /** Selects the upper bits of a hash, which depend on the whole part. */
  readonly #shift: number;

  constructor(bytes: Buffer, grain: Grain) {
    const log = logOfBits(bytes.length, grain);
    const bits = new Uint32Array(2 ** log / 32);
    const shift = 32 - log;
    const view = viewOf(bytes);
    for (let at = 0; at + grain.part <= bytes.length; at += grain.stride) {
      const bit = grain.hash(view, at) >>> shift;
      bits[bit >>> 5] = (bits[bit >>> 5] as number) | (1 << bit);
    }
    this.grain = grain;
    this.#bits = bits;
    this.#shift = shift;
  }

  mayHold(wanted: WantedText): boolean {
    const { stride } = this.grain;
    const hashes = wanted.hashes(this.grain);
    for (let start = 0; start < stride; start++) {
      let at = start;
      while (at < hashes.length && this.#has(hashes[at] as number)) at += stride;
      if (at >= hashes.length) return true;
    }
    return false;
  }

  #has(hash: number): boolean {
    const bit = hash >>> this.#shift;
    return ((this.#bits[bit >>> 5] as number) & (1 << bit)) !== 0;
  }
}

/** The approximate overhead of objects and strings. */
const OVERHEAD = 500;

function logOfBits(bytes: number, { bits }: Grain): number {
  return Math.min(27, Math.max(8, Math.ceil(Math.log2(bytes * bits + 1))));
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

/**
 * `normalize` in UTF-8. Results are long, so characters are removed without a branch, four in each step.
 * @returns bytes that the next call may overwrite
 */
function normalizedBytes(text: string, ascii: boolean): Buffer {
  const bytes = ascii ? asciiBytes(text) : encode(foldVariants(text));
  const { length } = bytes;
  let to = 0;
  let at = 0;
  // It never writes beyond the bytes that it has read.
  for (; at + 4 <= length; at += 4) {
    const first = KEPT[bytes[at] as number] as number;
    const second = KEPT[bytes[at + 1] as number] as number;
    const third = KEPT[bytes[at + 2] as number] as number;
    const fourth = KEPT[bytes[at + 3] as number] as number;
    bytes[to] = first;
    to += first >>> 8;
    bytes[to] = second;
    to += second >>> 8;
    bytes[to] = third;
    to += third >>> 8;
    bytes[to] = fourth;
    to += fourth >>> 8;
  }
  for (; at < length; at++) {
    const kept = KEPT[bytes[at] as number] as number;
    bytes[to] = kept;
    to += kept >>> 8;
  }
  return bytes.subarray(0, to);
}

function asciiBytes(text: string): Buffer {
  const bytes = scratch(text.length);
  return bytes.subarray(0, bytes.write(text, 0, 'latin1'));
}

/**
 * Lower case, each UTF-16 unit in the way of UTF-8. `toLowerCase` and the strings between such steps would take ten times
 * as long as all other steps together, as soon as a text has one curly quote.
 */
function encode(text: string): Buffer {
  const lower = lowerCases();
  const bytes = scratch(text.length * 3);
  let to = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = lower[text.charCodeAt(at)] as number;
    if (unit < 0x80) bytes[to++] = unit;
    else {
      if (unit < 0x800) bytes[to++] = 0xc0 | (unit >> 6);
      else {
        bytes[to++] = 0xe0 | (unit >> 12);
        bytes[to++] = 0x80 | ((unit >> 6) & 0x3f);
      }
      bytes[to++] = 0x80 | (unit & 0x3f);
    }
  }
  return bytes.subarray(0, to);
}

/** Writing a text is faster than counting its bytes. A text that does not fit also has more bytes than characters. */
function isAscii(text: string): boolean {
  const { length } = text;
  const bytes = length + 4 > SHARED_BYTES ? Buffer.byteLength(text) : sharedMemory().write(text, 0, 'utf8');
  return bytes === length;
}

/** Fresh memory for each text takes longer than everything else together. */
function scratch(bytes: number): Buffer {
  return bytes > SHARED_BYTES ? Buffer.allocUnsafeSlow(bytes) : sharedMemory();
}

const SHARED_BYTES = 524_288;
let shared: Buffer | undefined;

function sharedMemory(): Buffer {
  shared ??= Buffer.allocUnsafeSlow(SHARED_BYTES);
  return shared;
}

/** For each UTF-16 unit: its lower case. Letters beyond the first plane keep their case. */
function lowerCases(): Uint16Array {
  // White space does not end a word here, so a sigma at its end is like others.
  known ??= Uint16Array.from({ length: 65_536 }, (_, unit) => {
    const letter = String.fromCharCode(unit).toLowerCase();
    return letter === 'ς' ? 0x3c3 : letter.length === 1 ? letter.charCodeAt(0) : unit;
  });
  return known;
}

let known: Uint16Array | undefined;

/** For each byte: the byte in lower case, with an additional 1 above it if `normalize` keeps it. */
const KEPT = Uint16Array.from({ length: 256 }, (_, byte) => {
  const isDropped = byte === 32 || (byte >= 9 && byte <= 13) || '\\*`~'.includes(String.fromCharCode(byte));
  return (byte >= 65 && byte <= 90 ? byte + 32 : byte) | (isDropped ? 0 : 256);
});
