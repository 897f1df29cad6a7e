/** Shorter texts stand everywhere: they say nothing about where they came from. */
export const LEAST_CHARACTERS = 8;

/**
 * A text that can be asked whether it holds another one, ignoring case, white space and the forms of Unicode. A set of hashes
 * of its parts of eight characters answers most questions with no; the text answers the others.
 */
export class TextIndex {
  readonly #text: string;
  readonly #parts: Uint32Array;
  readonly #mask: number;
  #normalized: string | undefined;

  constructor(text: string) {
    this.#text = text;
    const bits = 2 ** Math.min(20, Math.max(10, Math.ceil(Math.log2(text.length * 8 + 1))));
    this.#parts = new Uint32Array(bits / 32);
    this.#mask = bits - 1;
    forEachPart(isAscii(text) ? text : normalize(text), (hash) => {
      const at = hash & this.#mask;
      this.#parts[at >>> 5] = (this.#parts[at >>> 5] as number) | (1 << (at & 31));
    });
  }

  get size(): number {
    return this.#text.length + this.#parts.byteLength;
  }

  /** @param wanted normalized, of at least eight characters */
  holds(wanted: string): boolean {
    let mayHold = true;
    forEachPart(wanted, (hash) => {
      const at = hash & this.#mask;
      if (((this.#parts[at >>> 5] as number) & (1 << (at & 31))) === 0) mayHold = false;
    });
    if (!mayHold) return false;
    this.#normalized ??= normalize(this.#text);
    return this.#normalized.includes(wanted);
  }

  /** The line, from 1, in which such a text begins. */
  lineOf(wanted: string): number | undefined {
    const lines = this.#text.split('\n');
    const at = lines.findIndex((line) => normalize(line).includes(wanted));
    return at === -1 ? undefined : at + 1;
  }
}

export function normalize(text: string): string {
  return (isAscii(text) ? text : text.normalize('NFKC')).toLowerCase().replace(/\s+/g, '');
}

function isAscii(text: string): boolean {
  return !/[^\x00-\x7f]/.test(text);
}

const WIDTH = LEAST_CHARACTERS;
const FACTOR = 0x01000193;
/** What a character counts for once it has left the part. */
const LEAVING = Array.from({ length: WIDTH }).reduce<number>((power) => Math.imul(power, FACTOR), 1);

/** Of each part of eight characters a hash; white space and the case of ASCII letters do not count. */
function forEachPart(text: string, visit: (hash: number) => void): void {
  const last = new Uint16Array(WIDTH);
  let hash = 0;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    let code = text.charCodeAt(at);
    if (code === 32 || (code >= 9 && code <= 13)) continue;
    if (code >= 65 && code <= 90) code += 32;
    const slot = count % WIDTH;
    hash = Math.imul(hash, FACTOR) + code;
    if (count >= WIDTH) hash -= Math.imul(last[slot] as number, LEAVING);
    last[slot] = code;
    count++;
    // The low bits of a product mix little: the upper ones join them.
    if (count >= WIDTH) visit((hash ^ (hash >>> 15)) >>> 0);
  }
}
