import { dirname, isAbsolute, join, resolve } from 'node:path';
import { entryStat, linkText } from './fs-entry.js';

/** More than the kernel follows. */
const MOST_LINKS = 40;

/**
 * Every entry that a path leads through, whether it exists or not: the directories above it, the links among
 * them, and what those links lead through. Replacing any of them can make the path lead elsewhere.
 */
export function wayTo(path: string): ReadonlySet<string> {
  const way = new Set<string>();
  const names = namesOf(resolve(path));
  let at = '/';
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === '..') {
      at = dirname(at);
      continue;
    }
    const entry = join(at, name);
    if (names.length > 0) way.add(entry);
    const text = linkAt(entry);
    if (text === undefined) {
      at = entry;
      continue;
    }
    way.add(entry);
    if (++links > MOST_LINKS) break;
    if (isAbsolute(text)) at = '/';
    names.unshift(...namesOf(text));
  }
  return way;
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

/** Also undefined if this cannot be determined. */
function linkAt(path: string): string | undefined {
  try {
    // Reading the target of something that is not a link would cost an error each time.
    return entryStat(path)?.isSymbolicLink() === true ? linkText(path) : undefined;
  } catch {
    return undefined;
  }
}
