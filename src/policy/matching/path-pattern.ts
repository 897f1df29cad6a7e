import { type Glob, isNegated, matchesParts, parseGlob } from '../../patterns/glob.js';
import { literalSegment, parseSegment, type Segment } from '../../patterns/segment.js';
import { literalCount, literalText } from '../../patterns/wildcard.js';
import { foldName, type PathSubject, ROOT } from './path-subject.js';

/** One alternative of a path pattern, ready to be asked. */
export interface PathPattern {
  readonly source: string;
  /** What it is compared with: names anywhere below a root, the absolute path, the path from a root. */
  readonly subject: 'anywhere' | 'absolute' | 'relative';
  /** The parts that it begins with, as far as they are literal: what an index looks it up by. */
  readonly head: readonly string[];
  /** A pattern for one name that may stand anywhere. */
  readonly name: string | undefined;
  /** A name that every path has that it matches; undefined: none of its parts is literal. */
  readonly literalName: string | undefined;
  readonly isLiteral: boolean;
  readonly literalCharacters: number;
  matches(path: PathSubject): boolean;
}

/**
 * Reads a path pattern as the sandbox reads its deny patterns: a name without a slash holds at any depth, what begins
 * with a slash or with `**` for the absolute path, everything else from a root. What tightens ignores case, holds for
 * all below a matching directory, and sees through characters that some file systems take for the same. What allows
 * does none of that: consent is for what was named.
 * @throws Error that says what is wrong with it.
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
    isLiteral: named.length === own.length && literalText(pieces) !== undefined,
    literalCharacters: literalCount(pieces),
    matches: (path) => path.forms(subject, tightens).some((form) => matchesParts(parts, form)),
  };
}

const ROOT_PART = literalSegment(ROOT);

/** What tightens holds below, and `x/**` means x too; what allows is meant as it stands. */
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
