import { literalCount, literalText, matchesWildcard, matchSequence, type Piece, RUN } from './wildcard.js';

/** A word of a command: its text, and the patterns that may match it. */
export interface CommandWord {
  /** As written, without quotes. */
  readonly text: string;
  /**
   * The values that the shell may give it. An allowing pattern must match all of them, another pattern any of
   * them.
   */
  readonly names: readonly string[];
  /**
   * `any`: every wildcard matches. `spelled`: only a pattern with the same start (`--color=*`). `exact`: only
   * the exact text.
   */
  readonly reach: 'any' | 'spelled' | 'exact';
}

/** A pattern for one simple command, word by word. */
export interface CommandPattern {
  readonly source: string;
  /** The program's name, if only one can match. An index uses it. */
  readonly program: string | undefined;
  readonly isLiteral: boolean;
  readonly literalCharacters: number;
  /**
   * `settings`: `NAME=value` before the words. An allowing pattern must spell each of them; without words,
   * they are the whole command.
   */
  matches(words: readonly (string | CommandWord)[], settings?: readonly string[]): boolean;
}

type Word = typeof MANY | readonly Piece[];
const MANY = Symbol('**');
const MAX_LENGTH = 4096;

/**
 * Parses `git status *`. Words are separated by spaces; `*` inside a word matches any characters of that
 * word. `*` alone matches one word, at the end any number of words; `**` matches any words anywhere. So `git
 * status` matches only that, without arguments. Quotes and `\` quote their content, including spaces and `*`.
 *
 * A tightening pattern finds the program in any directory (`rm *` is also `/bin/rm x`). An allowing pattern
 * does not, and its `*` matches no step up: `rm build/*` does not allow `rm build/../x`. Words like `CI=*`
 * before the program match settings: an allowing pattern must spell all settings of a command; `*` and `**`
 * alone match everything. Each word says which wildcards may match it (`CommandWord.reach`).
 * @throws Error with the reason if the pattern is invalid.
 */
export function parseCommandPattern(source: string, tightens: boolean): CommandPattern {
  if (source.length > MAX_LENGTH) throw new Error(`it is longer than ${MAX_LENGTH} characters`);
  if (source.includes('\0')) throw new Error('it holds a NUL character');
  const all = readWords(source).map((pieces): Word => (isMany(pieces) ? MANY : pieces));
  if (all.length === 0) throw new Error('it is empty');
  const start = all.findIndex((word) => !isSetting(word));
  const spelled = start === -1 ? all : all.slice(0, start);
  const words = start === -1 ? [] : all.slice(start);
  const last = words.length - 1;
  if (isOneWord(words[last])) words[last] = MANY;
  const isEverything = spelled.length === 0 && words.length === 1 && words[0] === MANY;
  const [first] = words;
  const program = first === undefined || first === MANY ? undefined : literalText(first);
  const pieces = all.flatMap((word) => (word === MANY ? [] : word));
  const anywhere = tightens && program !== undefined && !program.includes('/');
  const matchText = (word: readonly Piece[], given: string): boolean =>
    matchesWildcard(word, given) && (tightens || !stepsUp(word, given));
  const matchWord = (word: Word, given: string | CommandWord): boolean => {
    if (word === MANY) return false;
    if (typeof given === 'string') return matchText(word, given);
    const { text, names, reach } = given;
    if (literalText(word) === text) return true;
    if (tightens) return matchText(word, text) || names.some((name) => matchText(word, name));
    if (reach === 'exact' || (reach === 'spelled' && typeof word[0] !== 'string')) return false;
    return names.every((name) => matchText(word, name));
  };
  const standsFor = tightens
    ? undefined
    : (given: string | CommandWord): boolean => typeof given === 'string' || given.reach === 'any';
  return {
    source,
    // A setting may be the whole pattern, without a program.
    program: all.some(isSetting) ? undefined : program,
    isLiteral: !words.includes(MANY) && literalText(pieces) !== undefined,
    literalCharacters: literalCount(pieces),
    matches(given, settings = []) {
      if (!spelled.every((word) => settings.some((text) => matchWord(word, text)))) return false;
      if (tightens && words.length === 0) return true;
      if (!tightens && !isEverything) {
        const isSpelled = (text: string) => all.some((word) => isSetting(word) && matchWord(word, text));
        if (!settings.every(isSpelled)) return false;
        // No program runs, and the settings are spelled out.
        if (given.length === 0 && settings.length > 0) return true;
      }
      if (isEverything) return true;
      const [first, ...rest] = given;
      const name = typeof first === 'string' ? first : first?.text;
      const seen = anywhere && name !== undefined ? [name.slice(name.lastIndexOf('/') + 1), ...rest] : given;
      return matchSequence(words, seen, (word) => word === MANY, matchWord, standsFor);
    },
  };
}

/** `NAME=…` with the name written out. */
function isSetting(word: Word): boolean {
  if (word === MANY) return false;
  const equals = word.indexOf('=');
  return equals > 0 && /^[A-Za-z_][\w%]*$/.test(literalText(word.slice(0, equals)) ?? '');
}

/** A word that leads out of the directory at the pattern's start. */
function stepsUp(word: readonly Piece[], given: string): boolean {
  if (literalText(word) !== undefined || (word.length === 1 && word[0] === RUN)) return false;
  return /(?:^|[/=:])\.\.(?:\/|$)/.test(given);
}

function isMany(word: readonly Piece[]): boolean {
  return word.length === 2 && word[0] === RUN && word[1] === RUN;
}

function isOneWord(word: Word | undefined): boolean {
  return word !== undefined && word !== MANY && word.length === 1 && word[0] === RUN;
}

function readWords(source: string): Piece[][] {
  const words: Piece[][] = [];
  let word: Piece[] | undefined;
  let quote = '';
  const characters = Array.from(source);
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? '';
    if (quote === '' && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word ??= [];
    if (character === quote) quote = '';
    else if (quote === '' && (character === '"' || character === "'")) quote = character;
    else if (character === '\\' && quote !== "'") {
      if (++at === characters.length) throw new Error('it ends in a lone backslash');
      word.push(characters[at] ?? '');
    } else word.push(quote === '' && character === '*' ? RUN : character);
  }
  if (quote !== '') throw new Error(`a ${quote} is not closed`);
  if (word !== undefined) words.push(word);
  return words;
}
