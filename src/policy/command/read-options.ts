import { dropPrefix, exactText, type Field, startsUnknown } from './field.js';

/** Which options of a program take a value; all others are taken to have none. */
export interface OptionSpec {
  /** Letters: `ug` for `-u USER -g GROUP`, also written `-uUSER`. */
  readonly short?: string;
  /** Names without dashes, whose value is the next word unless it is written with `=`. */
  readonly long?: readonly string[];
  /** Options count only before the first operand. */
  readonly stopsAtOperand?: boolean;
}

export interface ReadOptions {
  /** Short letters as they came, long names without dashes. */
  readonly options: readonly { readonly name: string; readonly value: Field | undefined }[];
  readonly operands: readonly Field[];
  /** A word that may be an option, or several: it is not known. */
  readonly isUnclear: boolean;
  has(...names: readonly string[]): boolean;
  value(...names: readonly string[]): Field | undefined;
}

/** Reads options as `getopt_long` does: clusters, attached values, abbreviations, `--`. */
export function readOptions(words: readonly Field[], spec: OptionSpec = {}): ReadOptions {
  const reader = new Reader(words, spec);
  reader.read();
  const { options, operands, isUnclear } = reader;
  const find = (names: readonly string[]) =>
    options.findLast(({ name }) => names.some((one) => isName(name, one)));
  return {
    options,
    operands,
    isUnclear,
    has: (...names) => find(names) !== undefined,
    value: (...names) => find(names)?.value,
  };
}

/** Long names may be cut short, as the C library allows. */
function isName(given: string, full: string): boolean {
  if (given === full) return true;
  return given.length > 2 && full.length > given.length && full.startsWith(given);
}

class Reader {
  readonly options: { name: string; value: Field | undefined }[] = [];
  readonly operands: Field[] = [];
  isUnclear = false;
  readonly #words: readonly Field[];
  readonly #spec: OptionSpec;
  #at = 0;

  constructor(words: readonly Field[], spec: OptionSpec) {
    this.#words = words;
    this.#spec = spec;
  }

  read(): void {
    for (; this.#at < this.#words.length; this.#at++) {
      const word = this.#words[this.#at];
      if (word === undefined) return;
      if (startsUnknown(word)) this.isUnclear = true;
      const text = exactText(word) ?? leadingText(word);
      if (text === '--' || (this.#spec.stopsAtOperand === true && !/^-./.test(text))) {
        this.operands.push(...this.#words.slice(this.#at + (text === '--' ? 1 : 0)));
        return;
      }
      if (text.startsWith('--')) this.#long(text.slice(2), word);
      else if (text.length > 1 && text.startsWith('-')) this.#cluster(text.slice(1), word);
      else this.operands.push(word);
    }
  }

  #long(text: string, word: Field): void {
    const equals = text.indexOf('=');
    const name = equals === -1 ? text : text.slice(0, equals);
    const takesValue = this.#spec.long?.some((full) => isName(name, full)) === true;
    const value = equals === -1 ? (takesValue ? this.#next() : undefined) : dropPrefix(word, equals + 3);
    this.options.push({ name, value });
  }

  #cluster(letters: string, word: Field): void {
    for (let at = 0; at < letters.length; at++) {
      const name = letters.charAt(at);
      if (this.#spec.short?.includes(name) !== true) {
        this.options.push({ name, value: undefined });
        continue;
      }
      const isLast = at === letters.length - 1;
      this.options.push({ name, value: isLast ? this.#next() : dropPrefix(word, at + 2) });
      return;
    }
  }

  #next(): Field | undefined {
    this.#at++;
    return this.#words[this.#at];
  }
}

function leadingText({ pieces }: Field): string {
  const [first] = pieces;
  return first?.kind === 'text' ? first.text : '';
}
