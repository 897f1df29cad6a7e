import { ANY, literalText, matchesWildcard, type Piece, RUN } from './wildcard.js';

/** A pattern for the name of a tool or an agent: `*` for any text, `?` for one character. */
export interface NamePattern {
  readonly source: string;
  /** The only matching name; undefined if the pattern has wildcards. */
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
