import { ToolError } from '../errors/tool-error.js';
import { foldCase } from '../patterns/fold-case.js';
import { type Glob, isNegated, matchesParts, parseGlob } from '../patterns/glob.js';
import { literalSegment, type Segment } from '../patterns/segment.js';

/** A deny pattern, compiled to match one directory entry. */
export interface DenyPattern {
  /** As it was configured. */
  readonly source: string;
  /**
   * The text that the pattern is compared with. `name`: the entry's name alone, at any depth. `absolute`: its
   * absolute path. `relative`: its path from a root.
   */
  readonly subject: 'name' | 'absolute' | 'relative';
  /** In lower case, if only one name can match. */
  readonly literalName: string | undefined;
  /** The start and end of every matching name, in lower case. */
  readonly head: string;
  readonly tail: string;
  /** A quick test without false negatives; `name` is in lower case. */
  mayMatch(name: string): boolean;
  /** @param names the subject's names, folded; an absolute path starts with `ROOT`. */
  matches(names: readonly string[]): boolean;
  /** Whether these are the names of a directory that the pattern passes through. */
  leadsTo(names: readonly string[]): boolean;
  /** Whether the pattern matches everything below this directory, which may lie above a root. */
  coversBelow(directory: readonly string[]): boolean;
}

/** Precedes every absolute path as its first component, so `/etc` is never found inside a relative path. */
export const ROOT = '/';

const ROOT_PART = literalSegment(ROOT);

/**
 * Compiles one pattern per alternative: `{/etc,keys}/x` names two different places. Case and a leading dot
 * never exempt a path from a pattern.
 * @param roots left out: a pattern with a leading slash is an absolute path.
 * @throws ToolError `config_invalid` for an invalid glob
 */
export function compilePattern(
  source: unknown,
  option: string,
  roots: readonly string[] = [],
): DenyPattern[] {
  if (typeof source !== 'string') throw invalid(option, source, 'it is not a string');
  if (isNegated(source)) throw invalid(option, source, 'a deny pattern cannot be negated');
  try {
    return parseGlob(source.normalize('NFC'), { fold: foldCase }).flatMap((glob) =>
      isFarFrom(roots, glob)
        ? [compile(source, glob), compile(source, { ...glob, isAbsolute: false }, 'relative')]
        : [compile(source, glob)],
    );
  } catch (error) {
    throw invalid(option, source, error instanceof Error ? error.message : 'it cannot be compiled');
  }
}

/**
 * Whether an absolute pattern reaches none of the roots. `/keys/**`, as in a .gitignore, then starts at a
 * root; otherwise it would deny nothing.
 */
function isFarFrom(roots: readonly string[], { isAbsolute, parts: [first] }: Glob): boolean {
  if (!isAbsolute || first === undefined || first.isMany) return false;
  const beginnings = roots.map((root) => foldCase(root.split(/[\\/]/).find((name) => name !== '') ?? ''));
  return beginnings.length > 0 && beginnings.every((name) => name !== '' && !first.matches(name));
}

function compile(source: string, { isAbsolute, parts }: Glob, meant?: DenyPattern['subject']): DenyPattern {
  // `x/**` includes x itself, which reveals as much when it is listed or replaced. Entries below inherit from
  // it.
  const holdsBelow = parts.length > 1 && parts.at(-1)?.isMany === true;
  const own = holdsBelow ? parts.slice(0, -1) : parts;
  const subject = meant ?? subjectOf(own, isAbsolute, holdsBelow);
  const last = own.at(-1);
  const path = isAbsolute ? [ROOT_PART, ...own] : own;
  const ways = subject === 'name' ? [] : waysOf(path);
  const { head, tail, isPlain } = fixedEnds(last);
  return {
    source,
    subject,
    literalName: isPlain && subject === 'name' ? head : undefined,
    head,
    tail,
    mayMatch: (candidate) => candidate.endsWith(tail) && candidate.startsWith(head),
    matches: (names) =>
      subject === 'name' ? last?.matches(names.at(-1) ?? '') === true : matchesParts(path, names),
    leadsTo: (names) => ways.some((way) => matchesParts(way, names)),
    coversBelow: (directory) =>
      holdsBelow && subject !== 'relative' && matchesParts([...path, ...parts.slice(-1)], directory),
  };
}

/** The prefixes that end in a literal name, except the whole path. */
function waysOf(path: readonly Segment[]): readonly (readonly Segment[])[] {
  return path.slice(0, -1).flatMap(({ literal }, index) => {
    return literal === undefined || path[index] === ROOT_PART ? [] : [path.slice(0, index + 1)];
  });
}

/** A plain name matches at any depth, as in a .gitignore; `x/**` starts at the root. */
function subjectOf(
  own: readonly Segment[],
  isAbsolute: boolean,
  holdsBelow: boolean,
): DenyPattern['subject'] {
  const isAnywhere = own[0]?.isMany === true;
  if (isAbsolute) return 'absolute';
  if (own.length === 1 && !holdsBelow) return 'name';
  if (isAnywhere) return own.length === 2 ? 'name' : 'absolute';
  return 'relative';
}

interface FixedEnds {
  readonly head: string;
  readonly tail: string;
  readonly isPlain: boolean;
}

/** The start and end of every name that the part can match, in lower case. */
function fixedEnds(part: Segment | undefined): FixedEnds {
  const pieces = part?.pieces ?? [];
  const head: string[] = [];
  for (const piece of pieces) {
    if (typeof piece !== 'string') break;
    head.push(piece);
  }
  const tail: string[] = [];
  for (const piece of pieces.toReversed()) {
    if (typeof piece !== 'string') break;
    tail.unshift(piece);
  }
  const isPlain = part !== undefined && head.length === pieces.length;
  // The quick test handles ASCII only: lower case beyond it is complicated.
  if (NOT_ASCII.test(head.join('') + tail.join(''))) return { head: '', tail: '', isPlain: false };
  return { head: head.join(''), tail: tail.join(''), isPlain };
}

const NOT_ASCII = /[^\0-\x7f]/;

function invalid(option: string, pattern: unknown, problem: string): ToolError {
  return new ToolError(
    'config_invalid',
    `Cannot use the pattern ${JSON.stringify(pattern)} in ${option}: ${problem}. Write a complete glob.`,
    { details: { option, value: pattern } },
  );
}
