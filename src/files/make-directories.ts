import type { DirectoryMode } from '../contract/files.js';
import { isToolError } from '../errors/tool-error.js';
import { syncDirectory } from '../platform/fs/fs-bytes.js';
import { errnoOf, makeDirectory, removeDirectory, setMode } from '../platform/fs/fs-entry.js';
import type { Containment } from './containment.js';
import { type OpenPlace, openPlace } from './open-place.js';
import { componentsOf } from './parse-request.js';

/** Creates the missing directories with their permission bits. @returns all created ones, outermost first. */
export function makeDirectories(containment: Containment, directories: readonly DirectoryMode[]): string[] {
  const made: string[] = [];
  for (const { path, mode } of [...directories].sort((a, b) => a.path.length - b.path.length)) {
    atDirectory(containment, path, true, (opened) => {
      made.push(...opened.place.made);
      if (opened.entry !== undefined || !makeDirectory(opened.at)) return;
      made.push(path);
      const handle = containment.opener.openDirectory(opened.at);
      if (handle === 'missing' || handle === 'other') return;
      try {
        setMode(handle.at, mode);
      } finally {
        handle.close();
      }
      syncDirectory(opened.place.parent.at);
    });
  }
  return made;
}

/** Removes empty directories, innermost first. */
export function removeEmpty(containment: Containment, directories: Iterable<string>): void {
  for (const path of [...directories].sort((a, b) => b.length - a.length)) {
    atDirectory(containment, path, false, (opened) => {
      removeDirectory(opened.at);
      syncDirectory(opened.place.parent.at);
    });
  }
}

/** Does nothing if a link is now on the path or the file system refuses; the directory then stays unchanged. */
function atDirectory(
  containment: Containment,
  path: string,
  createParents: boolean,
  act: (opened: OpenPlace) => void,
): void {
  const root = containment.rootSet.rootOf(path);
  if (root === undefined) return;
  const request = { asked: path, path, root, components: componentsOf(path.slice(root.length)) };
  try {
    const opened = openPlace(containment, request, {
      access: 'write',
      followLast: false,
      createParents,
    });
    try {
      if (opened.place.path === path) act(opened);
    } finally {
      opened.place.parent.close();
    }
  } catch (error) {
    if (!isToolError(error) && errnoOf(error) === undefined) throw error;
  }
}
