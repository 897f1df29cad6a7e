/** Shorter texts stand everywhere: they say nothing about where they came from. */
export const LEAST_CHARACTERS = 8;

/** A text that is looked for: normalized, of at least eight characters. Its parts are hashed once for all texts. */
export class WantedText {
  readonly text: string;
  readonly hashes: readonly number[];

  constructor(normalized: string) {
    this.text = normalized;
    const hashes: number[] = [];
    let hash = 0;
    for (let at = 0; at < normalized.length; at++) {
      hash = ((hash << STEP) + gearOf(normalized.charCodeAt(at))) | 0;
      if (at >= LEAST_CHARACTERS - 1) hashes.push(hash);
    }
    this.hashes = hashes;
  }
}

/**
 * A text that can be asked whether it holds another one, ignoring case, white space and the forms of Unicode. A set of hashes
 * of its parts of eight characters answers most questions with no; the text answers the others.
 */
export class TextIndex {
  readonly #text: string;
  readonly #parts: Uint32Array;
  /** Selects the upper bits of a hash, which depend on all eight characters. */
  readonly #shift: number;
  #normalized: string | undefined;

  constructor(text: string) {
    this.#text = text;
    const log = Math.min(20, Math.max(10, Math.ceil(Math.log2(text.length * 4 + 1))));
    this.#parts = new Uint32Array(2 ** log / 32);
    this.#shift = 32 - log;
    if (isAscii(text)) this.#addAscii(text);
    else this.#addNormalized(normalize(text));
  }

  get size(): number {
    return this.#text.length + this.#parts.byteLength;
  }

  holds(wanted: WantedText): boolean {
    if (!this.mayHold(wanted)) return false;
    this.#normalized ??= normalize(this.#text);
    return this.#normalized.includes(wanted.text);
  }

  /** False: it does not. */
  mayHold({ hashes }: WantedText): boolean {
    for (let at = 0; at < hashes.length; at++) {
      const bit = (hashes[at] as number) >>> this.#shift;
      if (((this.#parts[bit >>> 5] as number) & (1 << bit)) === 0) return false;
    }
    return true;
  }

  /** The line, from 1, in which such a text begins. */
  lineOf({ text }: WantedText): number | undefined {
    const lines = this.#text.split('\n');
    const at = lines.findIndex((line) => normalize(line).includes(text));
    return at === -1 ? undefined : at + 1;
  }

  // Every result of a conversation passes here: a table of a byte's numbers and no branch but white space.
  #addAscii(text: string): void {
    const parts = this.#parts;
    const shift = this.#shift;
    const bytes = Buffer.from(text, 'latin1');
    let hash = 0;
    for (let at = 0; at < bytes.length; at++) {
      const gear = GEARS[bytes[at] as number] as number;
      if (gear === 0) continue;
      hash = ((hash << STEP) + gear) | 0;
      const bit = hash >>> shift;
      parts[bit >>> 5] = (parts[bit >>> 5] as number) | (1 << bit);
    }
  }

  #addNormalized(text: string): void {
    const parts = this.#parts;
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      hash = ((hash << STEP) + gearOf(text.charCodeAt(at))) | 0;
      const bit = hash >>> this.#shift;
      parts[bit >>> 5] = (parts[bit >>> 5] as number) | (1 << bit);
    }
  }
}

export function normalize(text: string): string {
  return (isAscii(text) ? text : text.normalize('NFKC')).toLowerCase().replace(/\s+/g, '');
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

/** A character leaves a hash of 32 bits after eight steps. */
const STEP = 32 / LEAST_CHARACTERS;

/** A number for each character; 0 for white space. Upper-case letters have the numbers of lower-case ones. */
const GEARS = Int32Array.from({ length: 128 }, (_, code) => {
  if (code === 32 || (code >= 9 && code <= 13)) return 0;
  return mix(code >= 65 && code <= 90 ? code + 32 : code);
});

function gearOf(code: number): number {
  return code < 128 ? (GEARS[code] as number) : mix(code);
}

/** Never 0. */
function mix(code: number): number {
  let mixed = Math.imul(code + 1, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) | 1;
}
