/** Lines that are searched and changed alternately. Equal lines share one number, so comparing is cheap. */
export class LineBuffer {
  readonly #numbers = new Map<ByteText, number>();
  readonly #texts: ByteText[] = [];
  #lines: Int32Array;
  #length: number;

  constructor(lines: readonly ByteText[]) {
    this.#lines = new Int32Array(lines.length + 64);
    this.#length = lines.length;
    for (const [index, line] of lines.entries()) this.#lines[index] = this.#number(line);
  }

  get length(): number {
    return this.#length;
  }

  at(index: number): ByteText | undefined {
    const number = index < this.#length ? this.#lines[index] : undefined;
    return number === undefined ? undefined : this.#texts[number];
  }

  texts(): ByteText[] {
    return Array.from(this.#lines.subarray(0, this.#length), (number) => this.#texts[number] ?? '');
  }

  /**
   * The positions of a block, including overlapping ones, in order; at most `limit`. Linear in the number of
   * lines.
   */
  find(block: readonly ByteText[], { from = 0, limit = Number.POSITIVE_INFINITY } = {}): number[] {
    const found: number[] = [];
    const wanted = block.map((line) => this.#numbers.get(line) ?? -1);
    if (wanted.length === 0 || wanted.includes(-1)) return found;
    const fallBack = fallBacks(wanted);
    const last = wanted.length - 1;
    const lines = this.#lines.subarray(0, this.#length);
    const [first = -1] = wanted;
    for (let at = from, matched = 0; at < lines.length && found.length < limit; at++) {
      if (matched === 0 && lines[at] !== first) {
        at = lines.indexOf(first, at);
        if (at === -1) break;
      }
      const line = lines[at];
      while (matched > 0 && wanted[matched] !== line) matched = fallBack[matched - 1] ?? 0;
      if (wanted[matched] !== line) continue;
      if (matched < last) {
        matched++;
        continue;
      }
      found.push(at - last);
      matched = fallBack[last] ?? 0;
    }
    return found;
  }

  isAt(index: number, block: readonly ByteText[]): boolean {
    return index >= 0 && block.every((line, offset) => this.at(index + offset) === line);
  }

  /** Replaces `count` lines. */
  splice(start: number, count: number, lines: readonly ByteText[]): void {
    const length = this.#length - count + lines.length;
    if (length > this.#lines.length) {
      const grown = new Int32Array(length + (length >> 1));
      grown.set(this.#lines.subarray(0, this.#length));
      this.#lines = grown;
    }
    this.#lines.copyWithin(start + lines.length, start + count, this.#length);
    for (const [index, line] of lines.entries()) this.#lines[start + index] = this.#number(line);
    this.#length = length;
  }

  #number(line: ByteText): number {
    const known = this.#numbers.get(line);
    if (known !== undefined) return known;
    const number = this.#texts.length;
    this.#numbers.set(line, number);
    this.#texts.push(line);
    return number;
  }
}

/** For each matched prefix length: the length of its longest border (Knuth, Morris, Pratt). */
function fallBacks(wanted: readonly number[]): Int32Array {
  const fallBack = new Int32Array(wanted.length);
  for (let at = 1, matched = 0; at < wanted.length; at++) {
    while (matched > 0 && wanted[matched] !== wanted[at]) matched = fallBack[matched - 1] ?? 0;
    if (wanted[matched] === wanted[at]) matched++;
    fallBack[at] = matched;
  }
  return fallBack;
}

/**
 * Bytes as text with one character each: invalid UTF-8 survives splitting and joining, and lines are compared
 * byte by byte.
 */
export type ByteText = string;

export function toByteText(text: string): ByteText {
  return NOT_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

export function fromByteText(bytes: ByteText): string {
  return NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}

const NOT_ASCII = /[^\x00-\x7f]/;
