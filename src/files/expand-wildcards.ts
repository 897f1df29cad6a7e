import { isAbsolute, join } from 'node:path';
import { parseSegment, type Segment } from '../patterns/segment.js';
import { namedEntries } from '../platform/fs/probe-place.js';

/**
 * The files that a shell's wildcards stand for, as it lists them: `*` is no dot at the beginning of a name, and `\\` makes
 * the next character plain. Relative patterns start at `from`, and so do their answers.
 * @returns undefined where it cannot be told: too many files, or a pattern that is not read here
 */
export function expandWildcards(pattern: string, from: string): readonly string[] | undefined {
  let found: readonly string[] = [isAbsolute(pattern) ? '/' : ''];
  let left = MOST_ENTRIES;
  for (const part of pattern.split('/').filter((one) => one !== '')) {
    const segment = readSegment(part);
    if (segment === undefined) return undefined;
    const { literal } = segment;
    if (literal !== undefined) {
      found = found.map((path) => join(path, literal));
      continue;
    }
    const next: string[] = [];
    for (const path of found) {
      const entries = namedEntries(join(from, path));
      left -= entries.length + 1;
      if (left < 0) return undefined;
      for (const { name } of entries)
        if ((segment.beginsWithDot || !name.startsWith('.')) && segment.matches(name))
          next.push(join(path, name));
    }
    found = next;
  }
  return found;
}

/** So many names are compared, and no more. */
const MOST_ENTRIES = 5_000;

function readSegment(part: string): Segment | undefined {
  try {
    return parseSegment(part, { hasGroups: false });
  } catch {
    return undefined;
  }
}
