import { ToolError } from '../errors/tool-error.js';
import { foldCase } from '../patterns/fold-case.js';
import { type Glob, isNegated, matchesParts, parseGlob } from '../patterns/glob.js';
import { literalSegment, type Segment } from '../patterns/segment.js';

/** A deny pattern, ready to be asked about one entry of a directory. */
export interface DenyPattern {
  /** As it was configured. */
  readonly source: string;
  /**
   * What the pattern is compared with: `name` is the entry's name alone (one component decides, wherever it
   * stands), `absolute` its path, `relative` its path from a root.
   */
  readonly subject: 'name' | 'absolute' | 'relative';
  /** The name in lower case, where only one name can match. */
  readonly literalName: string | undefined;
  /** How every name that it can match begins and ends, in lower case. */
  readonly head: string;
  readonly tail: string;
  /** Quick and never wrongly false; `name` is in lower case. */
  mayMatch(name: string): boolean;
  /** @param names of the subject, folded; those of an absolute path begin with `ROOT`. */
  matches(names: readonly string[]): boolean;
  /** Whether they are those of a directory that the pattern names, and that what it denies lies in. */
  leadsTo(names: readonly string[]): boolean;
  /** Whether the pattern speaks of all below this directory, which may lie above a root. */
  coversBelow(directory: readonly string[]): boolean;
}

/** Begins every absolute path, so that `/etc` is never found in a path from a root. */
export const ROOT = '/';

const ROOT_PART = literalSegment(ROOT);

/**
 * One for each alternative: `{/etc,keys}/x` speaks of two different places. Case never saves a path from a pattern, nor
 * does a leading dot.
 * @param roots left out: what begins with a slash is an absolute path.
 * @throws ToolError `config_invalid` for what is no glob
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
 * Whether an absolute pattern leads to none of the roots: `/keys/**`, as in a .gitignore, is meant from a root. It would
 * deny nothing otherwise.
 */
function isFarFrom(roots: readonly string[], { isAbsolute, parts: [first] }: Glob): boolean {
  if (!isAbsolute || first === undefined || first.isMany) return false;
  const beginnings = roots.map((root) => foldCase(root.split(/[\\/]/).find((name) => name !== '') ?? ''));
  return beginnings.length > 0 && beginnings.every((name) => name !== '' && !first.matches(name));
}

function compile(source: string, { isAbsolute, parts }: Glob, meant?: DenyPattern['subject']): DenyPattern {
  // `x/**` means x too, which gives the same away when it is listed or replaced; what is below inherits from it.
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

/** Up to each name that is spelled out, but the last one. */
function waysOf(path: readonly Segment[]): readonly (readonly Segment[])[] {
  return path.slice(0, -1).flatMap(({ literal }, index) => {
    return literal === undefined || path[index] === ROOT_PART ? [] : [path.slice(0, index + 1)];
  });
}

/** A plain name holds at any depth, as in a .gitignore; `x/**` is meant from the root. */
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

/** How every name that the part can match begins and ends, in lower case. */
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
  // What lower case does beyond ASCII is no business of a quick test.
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
