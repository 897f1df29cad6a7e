import { basename, dirname } from 'node:path';
import type { Containment } from './containment.js';
import { PlaceChanged } from './directory-locks.js';
import { removeEmpty } from './make-directories.js';
import { type OpenPlace, openPlace } from './open-place.js';
import type { PathRequest } from './parse-request.js';
import type { Place } from './walk.js';

/** The missing directories on the way to a place, canonical, outermost first. */
export function missingDirectories({ path, missing }: Pick<Place, 'path' | 'missing'>): string[] {
  const directories: string[] = [];
  for (let at = dirname(path), left = missing.length; left > 0; left--, at = dirname(at))
    directories.push(at);
  return directories.reverse();
}

/**
 * Creates the directories on the way to a place and opens the place again. This happens as late as possible,
 * after the new content is on disk and the change is recorded. So a process that is killed earlier leaves no
 * directory that the journal does not name, and a full disk is found before anything is created.
 * @throws PlaceChanged if the path now leads elsewhere
 */
export function makeWay(
  containment: Containment,
  request: PathRequest,
  opened: OpenPlace,
  followLast: boolean,
): OpenPlace {
  const { path } = opened.place;
  const made = openPlace(containment, request, { access: 'write', followLast, createParents: true });
  // An entry that another process created meanwhile is compared with the examined one.
  if (made.place.path === path) return { ...made, entry: opened.entry };
  made.place.parent.close();
  removeEmpty(containment, made.place.made);
  throw new PlaceChanged(made.place.path, basename(path), true);
}
