import type { PathPattern } from './path-pattern.js';
import type { SegmentPattern } from './segment-pattern.js';

/** Says of paths relative to where is searched whether they are meant. `/` separates. */
export type PathMatcher = (path: string) => boolean;

/** Where in an alternative a path can stand: indexes of the segments that may come next. */
interface Standing {
  readonly segments: readonly SegmentPattern[];
  readonly next: readonly number[];
}

const CACHED_DIRECTORIES = 20_000;

/**
 * Matches in linear time: all ways through the pattern are followed side by side. Where a directory has led is kept,
 * because its files are asked for one after the other.
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
  let lastDirectory: string | undefined;
  let last: readonly Standing[] = start;
  return (path) => {
    const slash = path.lastIndexOf('/');
    const directory = slash === -1 ? undefined : path.slice(0, slash);
    if (directory !== lastDirectory) {
      last = directory === undefined ? start : standingIn(directory);
      lastDirectory = directory;
    }
    return last.length > 0 && endsHere(last, path.slice(slash + 1), includeHidden);
  };
}

/** Which ends of a pattern are left for what lies below a directory, whose names are given from the top. */
export function endsBelow(
  segments: readonly SegmentPattern[],
  directories: readonly string[],
): readonly number[] {
  const start = settle(segments, [0]);
  return directories.reduce((next, name) => advance(segments, next, name, true), start);
}

function endsHere(standings: readonly Standing[], name: string, includeHidden: boolean): boolean {
  return standings.some(({ segments, next }) => {
    const end = segments.length - 1;
    const segment = segments[end];
    return segment !== undefined && next.includes(end) && admits(segment, name, includeHidden);
  });
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
    settled.add(index);
    if (segments[index]?.isGlobstar === true) settled.add(index + 1);
  }
  return [...settled].filter((index) => index < segments.length);
}

function admits(segment: SegmentPattern, name: string, includeHidden: boolean): boolean {
  if (name.startsWith('.') && !includeHidden && !segment.beginsWithDot) return false;
  return segment.matches(name);
}
