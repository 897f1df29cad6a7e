/** One position of a pattern: a character, any character, any run of characters, a class, or a group. */
export type Piece = string | typeof ANY | typeof RUN | CharacterClass | Group;

export const ANY = Symbol('?');
export const RUN = Symbol('*');

export interface CharacterClass {
  readonly has: (character: string) => boolean;
}

/**
 * `@(a|b)`: one of them; `?(..)`: one or none; `+(..)`: one or more; `*(..)`: any number; `!(..)`: none of
 * them.
 */
export interface Group {
  readonly kind: '@' | '?' | '+' | '*' | '!';
  readonly alternatives: readonly (readonly Piece[])[];
}

/**
 * Whether the pieces, without groups, match the whole text. It backtracks to the last run only, which is
 * sufficient: the time is pattern times text for every pattern (`*a*a*a*b` would hang a regular expression).
 */
export function matchesWildcard(pieces: readonly Piece[], text: string): boolean {
  return matchSequence(pieces, charactersOf(text), isRun, takes);
}

/** The units that `?` matches: code points. */
export function charactersOf(text: string): ArrayLike<string> {
  return /[\ud800-\udfff]/.test(text) ? Array.from(text) : text;
}

const isRun = (piece: Piece): boolean => piece === RUN;

/** Whether a piece other than a run or a group matches this character. */
export function takes(piece: Piece, character: string): boolean {
  return piece === character || piece === ANY || (isClass(piece) && piece.has(character));
}

function isClass(piece: Piece): piece is CharacterClass {
  return typeof piece === 'object' && 'has' in piece;
}

export function isGroup(piece: Piece): piece is Group {
  return typeof piece === 'object' && 'alternatives' in piece;
}

/**
 * The same algorithm for any sequence: characters of a name, parts of a path, words of a command.
 * @param takes whether a run may match this item. If absent: it matches everything.
 */
export function matchSequence<P, T>(
  pattern: ArrayLike<P>,
  subject: ArrayLike<T>,
  isMany: (item: P) => boolean,
  matches: (item: P, one: T) => boolean,
  takes?: (one: T) => boolean,
): boolean {
  let at = 0;
  let next = 0;
  let afterRun = -1;
  let resume = 0;
  while (at < subject.length) {
    const item = pattern[next] as P;
    if (next < pattern.length && isMany(item)) {
      afterRun = ++next;
      resume = at;
    } else if (next < pattern.length && matches(item, subject[at] as T)) {
      next++;
      at++;
    } else if (afterRun === -1 || takes?.(subject[resume] as T) === false) return false;
    else {
      next = afterRun;
      at = ++resume;
    }
  }
  while (next < pattern.length && isMany(pattern[next] as P)) next++;
  return next === pattern.length;
}

/** The number of positions that match exactly one character: a measure of precision. */
export function literalCount(pieces: readonly Piece[]): number {
  return pieces.reduce((count: number, piece) => (typeof piece === 'string' ? count + 1 : count), 0);
}

/** The text that the pieces match, if there is only one. */
export function literalText(pieces: readonly Piece[]): string | undefined {
  return pieces.every((piece) => typeof piece === 'string') ? pieces.join('') : undefined;
}

/** The longest literal part: every matching text contains it. Empty for a pattern without literal parts. */
export function longestLiteral(pieces: readonly Piece[]): string {
  const runs = [''];
  for (const piece of pieces) {
    if (typeof piece === 'string') runs.push(`${runs.pop() ?? ''}${piece}`);
    else runs.push('');
  }
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest));
}
