import { isAbsolute, join } from 'node:path';
import { parseSegment, type Segment } from '../patterns/segment.js';
import { namedEntries } from '../platform/fs/probe-place.js';

/**
 * Expands wildcards as a shell does: `*` does not match a leading dot, and `\\` quotes the next character.
 * Relative patterns start at `from`, and so do the results.
 * @returns undefined if the result is not known: too many files, or an unsupported pattern
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
      left -= 1;
      for (const { name } of namedEntries(join(from, path))) {
        left -= 1;
        if (left < 0) return undefined;
        if ((segment.beginsWithDot || !name.startsWith('.')) && segment.matches(name))
          next.push(join(path, name));
      }
      if (left < 0) return undefined;
    }
    found = next;
  }
  return found;
}

/** The maximum number of names to compare. */
const MOST_ENTRIES = 5_000;

function readSegment(part: string): Segment | undefined {
  try {
    return parseSegment(part, { hasGroups: false });
  } catch {
    return undefined;
  }
}
