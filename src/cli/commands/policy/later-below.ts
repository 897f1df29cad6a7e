import { binaryEntry, readableNames, toBinary, toText } from '../../../platform/fs/binary-fs.js';
import type { LaterPlace } from '../../later-place.js';
import type { LaterBelow } from './seen-writes.js';

/** The maximum number of entries to examine. */
const MOST_ENTRIES = 20_000;

/** Searches a directory for current files that run later by themselves. */
export function laterBelowOf(place: LaterPlace): LaterBelow {
  return (directory) => {
    const found: string[] = [];
    const open = [toBinary(directory)];
    let entries = 0;
    if (place.passesOver(`${directory}/x`)) return [];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (binaryEntry(at)?.kind !== 'dir') continue;
      const names = readableNames(at);
      entries += names.length;
      if (entries > MOST_ENTRIES) return undefined;
      for (const name of names) {
        const path = `${at}/${name}`;
        if (binaryEntry(path)?.kind === 'dir') {
          if (!place.passesOver(`${toText(path)}/x`)) open.push(path);
        } else if (place.has(toText(path))) found.push(toText(path));
      }
    }
    return found;
  };
}
