import type { PathPattern } from './path-pattern.js';
import type { SegmentPattern } from './segment-pattern.js';

/**
 * Says which names are meant in a directory, which is named from where is searched down (`a/b`, or empty).
 * Undefined: none is.
 */
export type PathMatcher = (directory: string) => NameTest | undefined;
export type NameTest = (name: string) => boolean;

/** Where in an alternative a path can stand: indexes of the segments that may come next. */
interface Standing {
  readonly segments: readonly SegmentPattern[];
  readonly next: readonly number[];
}

const CACHED_DIRECTORIES = 20_000;

/**
 * Matches in linear time: all ways through the pattern are followed side by side. Where a directory has led is kept
 * for those below it.
 */
export function createPathMatcher(pattern: PathPattern, includeHidden: boolean): PathMatcher {
  const start = pattern.alternatives.map((segments) => ({ segments, next: settle(segments, [0]) }));
  const known = new Map<string, readonly Standing[]>();
  const standingIn = (directory: string): readonly Standing[] => {
    const before = known.get(directory);
    if (before !== undefined) return before;
    const slash = directory.lastIndexOf('/');
    const parent = slash === -1 ? start : standingIn(directory.slice(0, slash));
    const name = directory.slice(slash + 1);
    const standing = parent.flatMap(({ segments, next }) => {
      const further = advance(segments, next, name, includeHidden);
      return further.length === 0 ? [] : [{ segments, next: further }];
    });
    if (known.size >= CACHED_DIRECTORIES) known.clear();
    known.set(directory, standing);
    return standing;
  };
  return (directory) => {
    const ends = endsOf(directory === '' ? start : standingIn(directory));
    const [end] = ends;
    if (end === undefined) return undefined;
    if (ends.length === 1) return (name) => admits(end, name, includeHidden);
    return (name) => ends.some((segment) => admits(segment, name, includeHidden));
  };
}

/** The last segments that may come next. */
function endsOf(standings: readonly Standing[]): readonly SegmentPattern[] {
  return standings.flatMap(({ segments, next }) => {
    const end = segments.at(-1);
    return end !== undefined && next.includes(segments.length - 1) ? [end] : [];
  });
}

/** Which ends of a pattern are left for what lies below a directory, whose names are given from the top. */
export function endsBelow(
  segments: readonly SegmentPattern[],
  directories: readonly string[],
): readonly number[] {
  const start = settle(segments, [0]);
  return directories.reduce((next, name) => advance(segments, next, name, true), start);
}

function advance(
  segments: readonly SegmentPattern[],
  next: readonly number[],
  name: string,
  includeHidden: boolean,
): readonly number[] {
  const further: number[] = [];
  for (const index of next) {
    const segment = segments[index];
    if (segment === undefined || !admits(segment, name, includeHidden)) continue;
    further.push(segment.isGlobstar ? index : index + 1);
  }
  return settle(segments, further);
}

/** A globstar may also stand for no directory at all. */
function settle(segments: readonly SegmentPattern[], next: readonly number[]): readonly number[] {
  const settled = new Set<number>();
  for (const index of next) {
    let end = index;
    while (segments[end]?.isGlobstar === true) settled.add(end++);
    settled.add(end);
  }
  return [...settled].filter((index) => index < segments.length);
}

function admits(segment: SegmentPattern, name: string, includeHidden: boolean): boolean {
  if (!includeHidden && !segment.beginsWithDot && name.startsWith('.')) return false;
  return segment.matches(name);
}
