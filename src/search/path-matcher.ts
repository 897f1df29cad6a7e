import { ToolError } from '../errors/tool-error.js';
import {
  firstPlaces,
  nextPlaces,
  type Places,
  parseGlob,
  type NameTest as SegmentTest,
} from '../patterns/glob.js';
import { parseSegment, type Segment } from '../patterns/segment.js';

/** A glob over paths relative to the searched place. */
export interface PathPattern {
  /** One per alternative of its braces. */
  readonly alternatives: readonly (readonly Segment[])[];
  /** It names an entry that starts with a dot. */
  readonly namesHidden: boolean;
}

/** @throws ToolError `bad_args` for an invalid glob, or one that names directories */
export function parsePathPattern(source: string): PathPattern {
  if (source.endsWith('/')) {
    throw badPattern(source, `it names directories, and only files are found. Use ${source.slice(0, 80)}**`);
  }
  const alternatives = read(source).map((parts) =>
    // `src/**` matches the files below, not a file called src.
    parts.at(-1)?.isMany === true ? [...parts, ANYTHING] : parts,
  );
  return {
    alternatives,
    namesHidden: alternatives.some((parts) => parts.some(({ beginsWithDot }) => beginsWithDot)),
  };
}

function read(source: string): readonly (readonly Segment[])[] {
  try {
    return parseGlob(source).map(({ parts }) => parts);
  } catch (error) {
    throw badPattern(source, error instanceof Error ? error.message : String(error));
  }
}

const ANYTHING = parseSegment('*');

function badPattern(source: string, why: string): ToolError {
  const shown = source.length > 200 ? `${source.slice(0, 200)}…` : source;
  return new ToolError('bad_args', `Cannot use the pattern ${JSON.stringify(shown)}: ${why}.`);
}

/**
 * Selects names in a directory, given relative to the searched place (`a/b`, or empty). Undefined if no name
 * can match.
 */
export type PathMatcher = (directory: string) => NameTest | undefined;
export type NameTest = (name: string) => boolean;

/** How far a path matches an alternative. */
interface Standing {
  readonly parts: readonly Segment[];
  readonly places: Places;
}

const CACHED_DIRECTORIES = 20_000;

/** The state of a directory is kept for its subdirectories. */
export function createPathMatcher(pattern: PathPattern, includeHidden: boolean): PathMatcher {
  const admits: SegmentTest = (part, name) =>
    (includeHidden || part.beginsWithDot || !name.startsWith('.')) && part.matches(name);
  const start = pattern.alternatives.map((parts) => ({ parts, places: firstPlaces(parts) }));
  const known = new Map<string, readonly Standing[]>();
  const standingIn = (directory: string): readonly Standing[] => {
    const before = known.get(directory);
    if (before !== undefined) return before;
    const slash = directory.lastIndexOf('/');
    const parent = slash === -1 ? start : standingIn(directory.slice(0, slash));
    const name = directory.slice(slash + 1);
    const standing = parent.flatMap(({ parts, places }) => {
      const further = nextPlaces(parts, places, name, admits);
      return further.length === 0 ? [] : [{ parts, places: further }];
    });
    if (known.size >= CACHED_DIRECTORIES) known.clear();
    known.set(directory, standing);
    return standing;
  };
  return (directory) => {
    const ends = lastParts(directory === '' ? start : standingIn(directory));
    const [end] = ends;
    if (end === undefined) return undefined;
    if (ends.length === 1) return (name) => admits(end, name);
    return (name) => ends.some((part) => admits(part, name));
  };
}

/** The parts that can match last. */
function lastParts(standings: readonly Standing[]): readonly Segment[] {
  return standings.flatMap(({ parts, places }) => {
    const end = parts.at(-1);
    return end !== undefined && places.includes(parts.length - 1) ? [end] : [];
  });
}

/** The remaining parts of a pattern below a directory, whose names are given from the top. */
export function endsBelow(parts: readonly Segment[], directories: readonly string[]): Places {
  return directories.reduce<Places>((places, name) => nextPlaces(parts, places, name), firstPlaces(parts));
}
