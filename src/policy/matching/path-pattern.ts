import { type Glob, isNegated, matchesParts, parseGlob } from '../../patterns/glob.js';
import { literalSegment, parseSegment, type Segment } from '../../patterns/segment.js';
import { literalCount, literalText, longestLiteral } from '../../patterns/wildcard.js';
import { foldName, type PathSubject, ROOT } from './path-subject.js';

/** One alternative of a path pattern, compiled. */
export interface PathPattern {
  readonly source: string;
  /**
   * The text that it is compared with: names anywhere below a root, the absolute path, or the path from a
   * root.
   */
  readonly subject: 'anywhere' | 'absolute' | 'relative';
  /** Its literal leading parts, for an index. */
  readonly head: readonly string[];
  /** A pattern for a single name at any depth. */
  readonly name: string | undefined;
  /** A name that every matching path contains; undefined if no part is literal. */
  readonly literalName: string | undefined;
  /** A part of a name that every matching path contains, for a cheap first test. May be empty. */
  readonly fragment: string;
  readonly isLiteral: boolean;
  readonly literalCharacters: number;
  matches(path: PathSubject): boolean;
}

/**
 * Parses a path pattern with the rules of deny patterns: a name without a slash matches at any depth, a
 * pattern with a leading slash or `**` matches the absolute path, any other starts at a root. A tightening
 * pattern ignores case, includes everything below a matching directory, and unifies characters that some file
 * systems treat as equal. An allowing pattern does none of that: consent covers only what it names.
 * @throws Error with the fault.
 */
export function parsePathPattern(source: string, tightens: boolean): PathPattern[] {
  if (isNegated(source)) throw new Error('a pattern cannot be negated; write a rule with the other decision');
  if (source.startsWith('~')) throw new Error('"~" is not expanded; write the absolute path');
  const globs = parseGlob(source.normalize('NFC'), { fold: tightens ? foldName : undefined });
  return globs.map((glob) => patternFor(source, glob, tightens));
}

function patternFor(source: string, { isAbsolute, parts: written }: Glob, tightens: boolean): PathPattern {
  const isAnywhere =
    !isAbsolute && (written.length === 1 || (written.length === 2 && written[0]?.isMany === true));
  const subject = isAnywhere
    ? 'anywhere'
    : isAbsolute || written[0]?.isMany === true
      ? 'absolute'
      : 'relative';
  const own = isAbsolute ? [ROOT_PART, ...written] : written;
  const parts = normalizeEnds(own, subject, tightens);
  const named = own.filter(({ isMany }) => !isMany);
  const pieces = named.flatMap((part) => part.pieces);
  return {
    source,
    subject,
    head: subject === 'anywhere' ? [] : headOf(own),
    name: isAnywhere ? named.at(-1)?.literal : undefined,
    literalName: named.findLast(({ literal }) => literal !== undefined && literal !== ROOT)?.literal,
    fragment: longestOf(named.map((part) => longestLiteral(part.pieces))),
    isLiteral: named.length === own.length && literalText(pieces) !== undefined,
    literalCharacters: literalCount(pieces),
    matches: (path) => path.forms(subject, tightens).some((form) => matchesParts(parts, form)),
  };
}

function longestOf(texts: readonly string[]): string {
  // No path contains the name of the root.
  return texts.reduce(
    (longest, text) => (text.length > longest.length && text !== ROOT ? text : longest),
    '',
  );
}

const ROOT_PART = literalSegment(ROOT);

/** A tightening pattern includes everything below, and `x/**` includes x; an allowing one is literal. */
function normalizeEnds(
  own: readonly Segment[],
  subject: PathPattern['subject'],
  tightens: boolean,
): readonly Segment[] {
  const parts = subject === 'anywhere' && own[0]?.isMany !== true ? [MANY, ...own] : own;
  if (own.every(({ isMany }) => isMany)) return parts;
  const endsInMany = parts.at(-1)?.isMany === true;
  if (tightens) return endsInMany ? parts : [...parts, MANY];
  return endsInMany ? [...parts.slice(0, -1), ONE_NAME, MANY] : parts;
}

const MANY = parseSegment('**');
const ONE_NAME = parseSegment('*');

function headOf(parts: readonly Segment[]): readonly string[] {
  const head: string[] = [];
  for (const { literal } of parts) {
    if (literal === undefined) break;
    head.push(literal);
  }
  return head;
}
