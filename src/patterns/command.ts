import { literalCount, literalText, matchesWildcard, matchSequence, type Piece, RUN } from './wildcard.js';

/** A pattern for one simple command, word by word. */
export interface CommandPattern {
  readonly source: string;
  /** The program's name, where only one can match: what an index looks it up by. */
  readonly program: string | undefined;
  readonly isLiteral: boolean;
  readonly literalCharacters: number;
  matches(words: readonly string[]): boolean;
}

type Word = typeof MANY | readonly Piece[];
const MANY = Symbol('**');
const MAX_LENGTH = 4096;

/**
 * Reads `git status *`. Words are separated by spaces; `*` inside a word stands for any characters of that word. `*`
 * alone stands for one word, at the end for any further words, also none; `**` stands for any words anywhere. So
 * `git status` is exactly that, without arguments. Quotes and `\` make what they hold plain, spaces and `*` included.
 *
 * What tightens finds the program under any directory (`rm *` is also `/bin/rm x`). What allows does not, and its `*`
 * stands for no step up: `rm build/*` does not allow `rm build/../x`.
 * @throws Error that says what is wrong with it.
 */
export function parseCommandPattern(source: string, tightens: boolean): CommandPattern {
  if (source.length > MAX_LENGTH) throw new Error(`it is longer than ${MAX_LENGTH} characters`);
  if (source.includes('\0')) throw new Error('it holds a NUL character');
  const words = readWords(source).map((pieces): Word => (isMany(pieces) ? MANY : pieces));
  if (words.length === 0) throw new Error('it is empty');
  const last = words.length - 1;
  if (isOneWord(words[last])) words[last] = MANY;
  const [first] = words;
  const program = first === undefined || first === MANY ? undefined : literalText(first);
  const pieces = words.flatMap((word) => (word === MANY ? [] : word));
  const anywhere = tightens && program !== undefined && !program.includes('/');
  const matchWord = (word: Word, given: string): boolean =>
    word !== MANY && matchesWildcard(word, given) && (tightens || !stepsUp(word, given));
  return {
    source,
    program,
    isLiteral: !words.includes(MANY) && literalText(pieces) !== undefined,
    literalCharacters: literalCount(pieces),
    matches(given) {
      const [name, ...rest] = given;
      const seen = anywhere && name !== undefined ? [name.slice(name.lastIndexOf('/') + 1), ...rest] : given;
      return matchSequence(words, seen, (word) => word === MANY, matchWord);
    },
  };
}

/** A word that leads out of where the pattern's own beginning points. */
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
