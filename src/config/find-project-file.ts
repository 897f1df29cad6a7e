import { dirname, join } from 'node:path';
import { entryStat } from '../platform/fs-entry.js';
import { realPlace } from '../platform/real-place.js';

const NAME = 'toolexec.toml';

/**
 * A project's configuration: in the directory itself, or the nearest parent up to the one that holds `.git`. Where no
 * parent holds that, only the directory itself counts: what lies above belongs to somebody else.
 */
export function findProjectFile(cwd: string): string | undefined {
  return placesToLook(realPlace(cwd))
    .map((directory) => join(directory, NAME))
    .find(exists);
}

function placesToLook(directory: string): string[] {
  const places: string[] = [];
  for (let at = directory; ; at = dirname(at)) {
    places.push(at);
    if (exists(join(at, '.git'))) return places;
    if (dirname(at) === at) return [directory];
  }
}

// A link that leads nowhere is there too: reading it says so. What cannot be looked at is out of our reach anyway.
function exists(path: string): boolean {
  try {
    return entryStat(path) !== undefined;
  } catch {
    return false;
  }
}
