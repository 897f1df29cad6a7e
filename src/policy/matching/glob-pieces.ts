import { ANY, type CharacterClass, type Piece, RUN } from './wildcard.js';

/**
 * One part of a path pattern (between two slashes), read: `*`, `?`, `[a-z]`, `\` before what is meant as it stands.
 * @param fold what makes spellings one, applied to what is literal.
 * @throws Error that says what is wrong with it.
 */
export function readGlobPieces(text: string, fold: (text: string) => string): Piece[] {
  const pieces: Piece[] = [];
  const characters = Array.from(text);
  let literal = '';
  const flush = (): void => {
    pieces.push(...Array.from(fold(literal)));
    literal = '';
  };
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? '';
    if ('*?['.includes(character)) flush();
    if (character === '*') {
      if (pieces.at(-1) !== RUN) pieces.push(RUN);
    } else if (character === '?') pieces.push(ANY);
    else if (character === '[') {
      const end = classEnd(characters, at);
      pieces.push(readClass(characters.slice(at + 1, end), fold));
      at = end;
    } else {
      if (character === '\\' && ++at === characters.length) throw new Error('it ends in a lone backslash');
      literal += characters[at] ?? '';
    }
  }
  flush();
  return pieces;
}

// The first character of a class is never its end: `[]a]` holds a bracket.
function classEnd(characters: readonly string[], start: number): number {
  let at = start + 1;
  if (characters[at] === '!' || characters[at] === '^') at++;
  for (at++; at < characters.length; at++) {
    if (characters[at] === '\\') at++;
    else if (characters[at] === ']') return at;
  }
  throw new Error('a "[" is not closed');
}

function readClass(body: readonly string[], fold: (text: string) => string): CharacterClass {
  const negated = body[0] === '!' || body[0] === '^';
  const ranges: (readonly [from: string, to: string])[] = [];
  for (let at = negated ? 1 : 0; at < body.length; at++) {
    if (body[at] === '[' && /[:.=]/.test(body[at + 1] ?? '')) {
      throw new Error('named classes such as [:alpha:] are not known here');
    }
    if (body[at] === '\\') at++;
    const from = body[at] ?? '\\';
    const isRange = body[at + 1] === '-' && at + 2 < body.length;
    if (isRange) at += 2;
    if (isRange && body[at] === '\\') at++;
    const to = isRange ? (body[at] ?? from) : from;
    if (compare(from, to) > 0) throw new Error(`the range ${from}-${to} runs backwards`);
    ranges.push([from, to], [fold(from), fold(to)]);
  }
  const lies = (character: string): boolean =>
    ranges.some(([from, to]) => compare(from, character) <= 0 && compare(character, to) <= 0);
  return { has: (character) => lies(character) !== negated };
}

function compare(a: string, b: string): number {
  return (a.codePointAt(0) ?? 0) - (b.codePointAt(0) ?? 0);
}
