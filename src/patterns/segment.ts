import { buildAutomaton, matchesAutomaton } from './groups.js';
import {
  ANY,
  type CharacterClass,
  charactersOf,
  type Group,
  isGroup,
  literalText,
  matchesWildcard,
  type Piece,
  RUN,
} from './wildcard.js';

/** One part of a glob between two slashes, ready to match one name. */
export interface Segment {
  /** `**`: any number of names. */
  readonly isMany: boolean;
  readonly pieces: readonly Piece[];
  /** The only matching name, if there is just one. */
  readonly literal: string | undefined;
  /** It starts with an explicit dot. */
  readonly beginsWithDot: boolean;
  matches(name: string): boolean;
}

export interface SegmentOptions {
  /**
   * Makes spellings equal, for example upper and lower case. It is applied to the pattern's text; names must
   * be folded by the caller.
   */
  readonly fold?: ((text: string) => string) | undefined;
  /** False: `@(a)` is these four characters, as in a .gitignore. */
  readonly hasGroups?: boolean;
}

/**
 * Parses one part: `*`, `?`, `[a-z]`, `[[:alpha:]]`, `[!a]`, groups such as `@(a|b)`, and `\` before a
 * literal character. No regular expression is built, so no pattern can hang.
 * @throws Error with the reason if the part is invalid
 */
export function parseSegment(source: string, options: SegmentOptions = {}): Segment {
  const isMany = source === '**';
  const reader = new PieceReader(source, options);
  return segmentOf(isMany ? [RUN] : reader.pieces(), isMany);
}

/** A segment that matches only this name, with any characters. */
export function literalSegment(name: string): Segment {
  return segmentOf(Array.from(name), false);
}

function segmentOf(pieces: readonly Piece[], isMany: boolean): Segment {
  const literal = literalText(pieces);
  return {
    isMany,
    pieces,
    literal,
    beginsWithDot: beginsWithDot(pieces),
    matches: matcherFor(pieces, literal),
  };
}

function beginsWithDot([first]: readonly Piece[]): boolean {
  if (first === undefined || !isGroup(first)) return first === '.';
  return first.kind !== '!' && first.alternatives.some(beginsWithDot);
}

function matcherFor(pieces: readonly Piece[], literal: string | undefined): (name: string) => boolean {
  if (literal !== undefined) return (name) => name === literal;
  const [first] = pieces;
  if (pieces.length === 1 && first === RUN) return () => true;
  // The most common patterns: `*.ts` and `test*`.
  const tail = first === RUN ? literalText(pieces.slice(1)) : undefined;
  if (tail !== undefined) return (name) => name.endsWith(tail);
  const head = pieces.at(-1) === RUN ? literalText(pieces.slice(0, -1)) : undefined;
  if (head !== undefined) return (name) => name.startsWith(head);
  if (!pieces.some(isGroup)) return (name) => matchesWildcard(pieces, name);
  const ending = matcherOfEnding(pieces);
  if (ending !== undefined) return ending;
  const automaton = buildAutomaton(pieces);
  return (name) => matchesAutomaton(automaton, charactersOf(name));
}

/** `.env.!(example)`: plain text, and a choice of plain texts at the end. */
function matcherOfEnding(pieces: readonly Piece[]): ((name: string) => boolean) | undefined {
  const group = pieces.at(-1);
  const head = literalText(pieces.slice(0, -1));
  if (group === undefined || !isGroup(group) || !'@!'.includes(group.kind) || head === undefined)
    return undefined;
  const texts = group.alternatives.map(literalText);
  if (texts.includes(undefined)) return undefined;
  const isOneOf = group.kind === '@';
  return (name) => name.startsWith(head) && texts.includes(name.slice(head.length)) === isOneOf;
}

/** Deeper than any useful pattern. */
const MAX_DEPTH = 10;

class PieceReader {
  readonly #characters: readonly string[];
  readonly #fold: (text: string) => string;
  readonly #hasGroups: boolean;
  #at = 0;
  #depth = 0;
  #isExcepted = false;

  constructor(source: string, { fold = (text) => text, hasGroups = true }: SegmentOptions) {
    this.#characters = Array.from(source);
    this.#fold = fold;
    this.#hasGroups = hasGroups;
  }

  /** Reads to the end, or to the `|` or `)` of the surrounding group. */
  pieces(): Piece[] {
    const pieces: Piece[] = [];
    let literal = '';
    const endLiteral = (): void => {
      pieces.push(...Array.from(this.#fold(literal)));
      literal = '';
    };
    for (; this.#at < this.#characters.length; this.#at++) {
      const character = this.#characters[this.#at] as string;
      if (this.#depth > 0 && (character === '|' || character === ')')) break;
      if (isGroupKind(character) && this.#hasGroups && this.#characters[this.#at + 1] === '(') {
        endLiteral();
        pieces.push(this.#group(character));
      } else if (character === '*') {
        endLiteral();
        // Several in a row are the same as one.
        if (pieces.at(-1) !== RUN) pieces.push(RUN);
      } else if (character === '?') {
        endLiteral();
        pieces.push(ANY);
      } else if (character === '[') {
        endLiteral();
        pieces.push(this.#class());
      } else literal += character === '\\' ? this.#escaped() : character;
    }
    endLiteral();
    return pieces;
  }

  /** Reads from the character before its `(` to its `)`. */
  #group(kind: Group['kind']): Group {
    if (++this.#depth > MAX_DEPTH) throw new Error(`its groups are nested more than ${MAX_DEPTH} deep`);
    if (kind === '!' && this.#isExcepted) throw new Error('a "!(" stands inside of another one');
    const wasExcepted = this.#isExcepted;
    this.#isExcepted ||= kind === '!';
    this.#at++;
    const alternatives: Piece[][] = [];
    do {
      this.#at++;
      alternatives.push(this.pieces());
    } while (this.#characters[this.#at] === '|');
    if (this.#characters[this.#at] !== ')') throw new Error('a "(" is not closed before the next "/"');
    if (alternatives.length === 1 && alternatives[0]?.length === 0) {
      throw new Error(`the group ${kind}() is empty`);
    }
    this.#depth--;
    this.#isExcepted = wasExcepted;
    return { kind, alternatives };
  }

  /** Reads from its `[` to its `]`. */
  #class(): CharacterClass {
    const isNegated = ['!', '^'].includes(this.#characters[this.#at + 1] ?? '');
    if (isNegated) this.#at++;
    this.#at++;
    const members: ((character: string) => boolean)[] = [];
    // A bracket in first position is a member: `[]a]`.
    for (let isFirst = true; isFirst || this.#characters[this.#at] !== ']'; isFirst = false) {
      members.push(this.#named() ?? this.#range());
    }
    const has = (character: string): boolean => members.some((isMember) => isMember(character));
    const variants = this.#fold('A') === 'A' ? (character: string) => [character] : casesOf;
    return { has: (character) => variants(character).some(has) !== isNegated };
  }

  #named(): ((character: string) => boolean) | undefined {
    if (this.#characters[this.#at] !== '[') return undefined;
    const rest = this.#characters.slice(this.#at, this.#at + 20).join('');
    const [text] = /^\[([:.=])[^\]/]*\1\]/.exec(rest) ?? [];
    if (text === undefined) return undefined;
    const pattern = Object.hasOwn(NAMED_CLASSES, text) ? NAMED_CLASSES[text]?.() : undefined;
    if (pattern === undefined) throw new Error(`there is no class ${text}`);
    this.#at += text.length;
    return (character) => pattern.test(character);
  }

  #range(): (character: string) => boolean {
    const low = this.#member();
    const after = this.#characters[this.#at + 1];
    if (this.#characters[this.#at] !== '-' || after === undefined || after === ']') {
      const folded = this.#fold(low);
      return (character) => character === low || character === folded;
    }
    this.#at++;
    const high = this.#member();
    const first = codeOf(low);
    const last = codeOf(high);
    if (first > last) throw new Error(`the range ${low}-${high} runs backwards`);
    const isBetween = (from: number, to: number) => (character: string) =>
      codeOf(character) >= from && codeOf(character) <= to;
    const asWritten = isBetween(first, last);
    // Names are folded already: full-width letters become plain ones.
    const folded = [low, high].map((end) => Array.from(this.#fold(end)));
    const [[from, more], [to, further]] = folded as [string[], string[]];
    if (from === undefined || to === undefined || more !== undefined || further !== undefined)
      return asWritten;
    const asFolded = isBetween(codeOf(from), codeOf(to));
    return (character) => asWritten(character) || asFolded(character);
  }

  #member(): string {
    if (this.#characters[this.#at] === '\\') this.#at++;
    const character = this.#characters[this.#at++];
    if (character === undefined) throw new Error('a "[" is not closed (write \\[ for the character itself)');
    return character;
  }

  #escaped(): string {
    const character = this.#characters[++this.#at];
    if (character === undefined) throw new Error('it ends in a lone backslash, or has one before a "/"');
    return character;
  }
}

/** Built when a pattern names one: V8 takes milliseconds to build a Unicode set. */
const NAMED_CLASSES: Readonly<Record<string, () => RegExp>> = {
  '[:alnum:]': () => /[\p{L}\p{Nl}\p{Nd}]/u,
  '[:alpha:]': () => /[\p{L}\p{Nl}]/u,
  '[:ascii:]': () => /[\0-\x7f]/,
  '[:blank:]': () => /[\p{Zs}\t]/u,
  '[:cntrl:]': () => /\p{Cc}/u,
  '[:digit:]': () => /\p{Nd}/u,
  '[:graph:]': () => /[^\p{Z}\p{C}]/u,
  '[:lower:]': () => /\p{Ll}/u,
  '[:print:]': () => /\P{C}/u,
  '[:punct:]': () => /\p{P}/u,
  '[:space:]': () => /[\p{Z}\t\r\n\v\f]/u,
  '[:upper:]': () => /\p{Lu}/u,
  '[:word:]': () => /[\p{L}\p{Nl}\p{Nd}\p{Pc}]/u,
  '[:xdigit:]': () => /[A-Fa-f0-9]/,
};

function isGroupKind(character: string): character is Group['kind'] {
  return '?*+@!'.includes(character);
}

function casesOf(character: string): readonly string[] {
  return [character, character.toLowerCase(), character.toUpperCase()];
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
