import { dropPrefix, exactText, type Field, startsUnknown } from './field.js';

/** Which options of a program take a value; all others are taken to have none. */
export interface OptionSpec {
  /** Letters: `ug` for `-u USER -g GROUP`, also written `-uUSER`. */
  readonly short?: string;
  /** Names without dashes, whose value is the next word unless it is written with `=`. */
  readonly long?: readonly string[];
  /** Options count only before the first operand. */
  readonly leads?: boolean;
}

interface GivenOption {
  /** A letter, or a long name without its dashes. */
  readonly name: string;
  readonly value: Field | undefined;
  /** The word that it stands in. */
  readonly word: Field;
}

/** The options and operands of a command, read as `getopt_long` does: clusters, attached values, abbreviations, `--`. */
export class Options {
  readonly given: GivenOption[] = [];
  readonly operands: Field[] = [];
  /** A word that may be an option, or several: it is not known. */
  isUnclear = false;
  readonly #words: readonly Field[];
  readonly #spec: OptionSpec;
  #at = 0;

  constructor(words: readonly Field[], spec: OptionSpec = {}) {
    this.#words = words;
    this.#spec = spec;
    for (; this.#at < words.length; this.#at++) {
      const word = words[this.#at];
      if (word === undefined) return;
      if (startsUnknown(word)) this.isUnclear = true;
      const [first] = word.pieces;
      const text = exactText(word) ?? (first?.kind === 'text' ? first.text : '');
      if (text === '--' || (spec.leads === true && !/^-./.test(text))) {
        this.operands.push(...words.slice(this.#at + (text === '--' ? 1 : 0)));
        return;
      }
      if (text.startsWith('--')) this.#long(text.slice(2), word);
      else if (/^-./.test(text)) this.#cluster(text.slice(1), word);
      else this.operands.push(word);
    }
  }

  has(...names: readonly string[]): boolean {
    return this.given.some(({ name }) => names.some((full) => isName(name, full)));
  }

  /** The values that these options were given, one after the other. */
  values(...names: readonly string[]): Field[] {
    return this.all(...names).flatMap(({ value }) => value ?? []);
  }

  /** These options, where they have a value. */
  all(...names: readonly string[]): GivenOption[] {
    return this.given.filter(
      ({ name, value }) => value !== undefined && names.some((full) => isName(name, full)),
    );
  }

  value(...names: readonly string[]): Field | undefined {
    return this.values(...names).at(-1);
  }

  #long(text: string, word: Field): void {
    const equals = text.indexOf('=');
    const name = equals === -1 ? text : text.slice(0, equals);
    const takesValue = this.#spec.long?.some((full) => isName(name, full)) === true;
    const value = equals === -1 ? (takesValue ? this.#next() : undefined) : dropPrefix(word, equals + 3);
    this.given.push({ name, value, word });
  }

  #cluster(letters: string, word: Field): void {
    for (let at = 0; at < letters.length; at++) {
      const name = letters.charAt(at);
      const takesValue = this.#spec.short?.includes(name) === true;
      const isLast = at === letters.length - 1;
      this.given.push({
        name,
        value: takesValue ? (isLast ? this.#next() : dropPrefix(word, at + 2)) : undefined,
        word,
      });
      if (takesValue) return;
    }
  }

  #next(): Field | undefined {
    this.#at++;
    return this.#words[this.#at];
  }
}

/** Long names may be cut short, as the C library allows. */
function isName(given: string, full: string): boolean {
  if (given === full) return true;
  return given.length > 2 && full.length > given.length && full.startsWith(given);
}
