import type { DirectoryMode } from '../contract/files.js';
import { isToolError } from '../errors/tool-error.js';
import { syncDirectory } from '../platform/fs/fs-bytes.js';
import { errnoOf, makeDirectory, removeDirectory, setMode } from '../platform/fs/fs-entry.js';
import type { Enclosure } from './enclosure.js';
import { type HeldPlace, holdPlace } from './hold.js';
import { componentsOf } from './parse-request.js';

/** Those that are missing, with their permission bits. @returns all that were made, outermost first. */
export function makeDirectories(enclosure: Enclosure, directories: readonly DirectoryMode[]): string[] {
  const made: string[] = [];
  for (const { path, mode } of [...directories].sort((a, b) => a.path.length - b.path.length)) {
    atDirectory(enclosure, path, true, (held) => {
      made.push(...held.place.made);
      if (held.entry !== undefined || !makeDirectory(held.at)) return;
      made.push(path);
      const pin = enclosure.pinner.pinDirectory(held.at);
      if (pin === 'missing' || pin === 'other') return;
      try {
        setMode(pin.at, mode);
      } finally {
        pin.close();
      }
      syncDirectory(held.place.parent.at);
    });
  }
  return made;
}

/** The innermost first, and only while they are empty. */
export function removeEmpty(enclosure: Enclosure, directories: Iterable<string>): void {
  for (const path of [...directories].sort((a, b) => b.length - a.length)) {
    atDirectory(enclosure, path, false, (held) => {
      removeDirectory(held.at);
      syncDirectory(held.place.parent.at);
    });
  }
}

/** Nothing is done where a link is on the way by now, or the file system refuses: then the directory stays as it is. */
function atDirectory(
  enclosure: Enclosure,
  path: string,
  createParents: boolean,
  act: (held: HeldPlace) => void,
): void {
  const root = enclosure.territory.rootOf(path);
  if (root === undefined) return;
  const request = { asked: path, path, root, components: componentsOf(path.slice(root.length)) };
  try {
    const held = holdPlace(enclosure, request, {
      access: 'write',
      followLast: false,
      createParents,
    });
    try {
      if (held.place.path === path) act(held);
    } finally {
      held.place.parent.close();
    }
  } catch (error) {
    if (!isToolError(error) && errnoOf(error) === undefined) throw error;
  }
}
