import { ANY, literalText, matchesWildcard, type Piece, RUN } from './wildcard.js';

/** A pattern for the name of a tool or an agent: `*` for anything, `?` for one character. */
export interface NamePattern {
  readonly source: string;
  /** The one name that it stands for; undefined: it has wildcards. */
  readonly literal: string | undefined;
  matches(name: string): boolean;
}

export function parseNamePattern(source: string): NamePattern {
  const pieces: readonly Piece[] = Array.from(source, (character) =>
    character === '*' ? RUN : character === '?' ? ANY : character,
  );
  const literal = literalText(pieces);
  return {
    source,
    literal,
    matches: literal === undefined ? (name) => matchesWildcard(pieces, name) : (name) => name === literal,
  };
}
