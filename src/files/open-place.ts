import { basename, dirname, join } from 'node:path';
import { type EntryStat, entryStat } from '../platform/fs/fs-entry.js';
import type { Handle } from '../platform/fs/open-handle.js';
import { assertAllowed, assertOpenInside, type Containment } from './containment.js';
import { fileSystemError } from './file-failure.js';
import { assertOneName } from './one-name.js';
import { namesDirectory, type PathRequest } from './parse-request.js';
import { type Place, type WalkOptions, walk } from './walk.js';

/** How many concurrent swaps we tolerate before giving up. */
const MAX_ATTEMPTS = 8;

/** An open path target. The caller closes `handle`. */
export interface OpenTarget {
  readonly handle: Handle;
  readonly stat: EntryStat;
  readonly path: string;
}

/** The place of a path's last component, existing or not. The caller closes `place.parent`. */
export interface OpenPlace {
  readonly place: Place;
  /** A path to the entry itself. */
  readonly at: string;
  readonly entry: EntryStat | undefined;
}

/** Opens the path's target and follows all links inside the roots. Throws `ENOENT` if nothing is there. */
export function openTarget(containment: Containment, request: PathRequest): OpenTarget {
  const handle = openByName(containment, request.path);
  if (handle !== undefined) {
    const opened = examine(handle, () => request.path);
    if (opened !== undefined) return withOneName(containment, request, opened);
  }
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const opened = openByWalking(containment, request);
    if (opened !== undefined) return withOneName(containment, request, opened);
  }
  throw fileSystemError('EAGAIN');
}

function withOneName(containment: Containment, request: PathRequest, opened: OpenTarget): OpenTarget {
  try {
    if (namesDirectory(request.asked) && !opened.stat.isDirectory()) throw fileSystemError('ENOTDIR');
    assertOneName(containment, request.asked, opened.path, () => opened.stat);
    return opened;
  } catch (error) {
    opened.handle.close();
    throw error;
  }
}

/**
 * Opens the directory of the path's last component. A file whose content is replaced may be required to have
 * only one name.
 */
export function openPlace(containment: Containment, request: PathRequest, options: WalkOptions): OpenPlace {
  const opened = openAnyPlace(containment, request, options);
  try {
    const { entry } = opened;
    if (
      namesDirectory(request.asked) &&
      entry !== undefined &&
      !entry.isDirectory() &&
      !entry.isSymbolicLink()
    )
      throw fileSystemError('ENOTDIR');
    if (options.access === 'read' || !options.followLast) return opened;
    assertOneName(containment, request.asked, opened.place.path, () => opened.entry);
    return opened;
  } catch (error) {
    opened.place.parent.close();
    throw error;
  }
}

function openAnyPlace(containment: Containment, request: PathRequest, options: WalkOptions): OpenPlace {
  const parent =
    request.components.length === 0 ? undefined : openDirectoryByName(containment, dirname(request.path));
  if (parent !== undefined) {
    const name = basename(request.path);
    const opened = enter(
      { parent, name, missing: [], path: request.path, isDangling: false, made: [] },
      options,
    );
    if (opened !== undefined) return opened;
  }
  const place = walk(containment, request, options);
  try {
    const parentName = assertOpenInside(containment, request.asked, place.parent, 'read');
    const name = join(parentName, ...place.missing, place.name);
    assertAllowed(containment, request.asked, name, options.access);
    const at = [place.parent.at, ...place.missing, place.name].join('/');
    return { place, at, entry: place.missing.length > 0 ? undefined : entryStat(at) };
  } catch (error) {
    place.parent.close();
    throw error;
  }
}

/**
 * The short way for a path without links: open it first, then ask the kernel for its name. If that equals the
 * checked path, no link was followed. Otherwise the walk decides.
 */
function openByName(containment: Containment, path: string): Handle | undefined {
  let handle: Handle;
  try {
    handle = containment.opener.open(path);
  } catch {
    return undefined;
  }
  return keepIf(handle, () => handle.name() === path) ? handle : undefined;
}

function openDirectoryByName(containment: Containment, path: string): Handle | undefined {
  let handle: Handle | 'missing' | 'other';
  try {
    handle = containment.opener.openDirectory(path);
  } catch {
    return undefined;
  }
  if (handle === 'missing' || handle === 'other') return undefined;
  const opened = handle;
  return keepIf(opened, () => opened.name() === path) ? opened : undefined;
}

function openByWalking(containment: Containment, request: PathRequest): OpenTarget | undefined {
  const place = walk(containment, request, { access: 'read', followLast: true, createParents: false });
  let handle: Handle;
  try {
    if (place.missing.length > 0) throw fileSystemError('ENOENT');
    handle = containment.opener.open(`${place.parent.at}/${place.name}`);
  } finally {
    place.parent.close();
  }
  return examine(handle, () => assertOpenInside(containment, request.asked, handle, 'read'));
}

/** Undefined for a link: the path continues behind it. */
function examine(handle: Handle, name: () => string): OpenTarget | undefined {
  let opened: OpenTarget | undefined;
  keepIf(handle, () => {
    const stat = handle.stat();
    if (!stat.isSymbolicLink()) opened = { handle, stat, path: name() };
    return opened !== undefined;
  });
  return opened;
}

function enter(place: Place, options: WalkOptions): OpenPlace | undefined {
  let opened: OpenPlace | undefined;
  keepIf(place.parent, () => {
    const at = `${place.parent.at}/${place.name}`;
    const entry = entryStat(at);
    if (entry?.isSymbolicLink() !== true || !options.followLast) opened = { place, at, entry };
    return opened !== undefined;
  });
  return opened;
}

/** Closes a handle that is not kept, even if examining it fails. */
function keepIf(handle: Handle, isWanted: () => boolean): boolean {
  let isKept = false;
  try {
    isKept = isWanted();
  } finally {
    if (!isKept) handle.close();
  }
  return isKept;
}
