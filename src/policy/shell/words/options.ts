import { Field } from './field.js';

/** Which options of a program take a value; all others take none. */
export interface OptionSpec {
  /**
   * Letters (`ug` for `-u USER -g GROUP`, also written `-uUSER`), then after a space names without dashes,
   * whose value is the next word unless written with `=`.
   */
  readonly options?: string;
  /** More options that take a value: by name, the meaning of the value. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Options end at the first operand. */
  readonly leads?: boolean;
  /** `+x` is an option like `-x`. */
  readonly plus?: boolean;
  /** The first word consists of option letters, without a dash. */
  readonly bundle?: boolean;
}

interface GivenOption {
  /** A letter, or a long name without its dashes. */
  readonly name: string;
  readonly value: Field | undefined;
  /** The word that contains it. */
  readonly word: Field;
}

/**
 * The options and operands of a command, parsed like `getopt_long`: clusters, attached values, abbreviations,
 * `--`.
 */
export class Options {
  readonly given: GivenOption[] = [];
  readonly operands: Field[] = [];

  constructor(all: readonly Field[], spec: OptionSpec = NO_VALUES) {
    const { leads, plus, bundle } = spec;
    const { letters, names } = takersOf(spec);
    const [start, ...rest] = all;
    const isBundle = bundle === true && start !== undefined && /^[A-Za-z]+$/.test(start.shown);
    const words = isBundle ? [Field.of(`-${start.shown}`), ...rest] : all;
    for (let at = 0; at < words.length; at++) {
      const word = words[at];
      if (word === undefined) return;
      const [first] = word.pieces;
      const given = word.exact ?? (first?.kind === 'text' ? first.text : '');
      const text = plus ? given.replace(/^\+(?=\w)/, '-') : given;
      if (text === '--' || (leads && !/^-./.test(text))) {
        this.operands.push(...words.slice(text === '--' ? at + 1 : at));
        return;
      }
      if (text.startsWith('--')) {
        const [name = ''] = text.slice(2).split('=', 1);
        const takesNext = !text.includes('=') && names.some((full) => isName(name, full));
        const attached = text.includes('=') ? word.dropPrefix(name.length + 3) : undefined;
        this.given.push({ name, value: takesNext ? words[++at] : attached, word });
      } else if (/^-./.test(text)) {
        for (let place = 1; place < text.length; place++) {
          const name = text.charAt(place);
          const takesValue = letters.has(name);
          const attached = place === text.length - 1 ? undefined : word.dropPrefix(place + 1);
          this.given.push({ name, value: takesValue ? (attached ?? words[++at]) : undefined, word });
          if (takesValue) break;
        }
      } else this.operands.push(word);
    }
  }

  has(...names: readonly string[]): boolean {
    return this.given.some(({ name }) => names.some((full) => isName(name, full)));
  }

  /** The values of these options, in order. */
  values(...names: readonly string[]): Field[] {
    return this.given.flatMap(({ name, value }) =>
      value !== undefined && names.some((full) => isName(name, full)) ? [value] : [],
    );
  }

  value(...names: readonly string[]): Field | undefined {
    return this.values(...names).at(-1);
  }
}

const NO_VALUES: OptionSpec = {};

interface Takers {
  readonly letters: ReadonlySet<string>;
  readonly names: readonly string[];
}

const takers = new WeakMap<OptionSpec, Takers>();

/** Which options take a value; computed when the program is first seen. */
function takersOf(spec: OptionSpec): Takers {
  const known = takers.get(spec);
  if (known !== undefined) return known;
  const [letters = '', ...long] = (spec.options ?? '').split(' ');
  const more = Object.keys(spec.values ?? {});
  const found = { letters: new Set([...letters, ...more]), names: [...long, ...more] };
  takers.set(spec, found);
  return found;
}

/** Long names may be abbreviated, as the C library allows. */
export function isName(given: string, full: string): boolean {
  return given === full || (given.length > 2 && full.startsWith(given));
}
