import { basename, dirname, join } from 'node:path';
import { type EntryStat, entryStat } from '../platform/fs/fs-entry.js';
import type { Pin } from '../platform/fs/pin.js';
import { assertAllowed, assertHeldInside, type Enclosure } from './enclosure.js';
import { fileSystemError } from './file-failure.js';
import { assertOneName } from './one-name.js';
import type { PathRequest } from './parse-request.js';
import { type Place, type WalkOptions, walk } from './walk.js';

/** How often something may be swapped under our hands before we give up. */
const MAX_ATTEMPTS = 8;

/** What a path leads to, held. The caller closes `pin`. */
export interface HeldTarget {
  readonly pin: Pin;
  readonly stat: EntryStat;
  readonly path: string;
}

/** Where a path's last part is, or would be. The caller closes `place.parent`. */
export interface HeldPlace {
  readonly place: Place;
  /** Reaches the entry itself. */
  readonly at: string;
  readonly entry: EntryStat | undefined;
}

/** Holds what the path leads to, all links followed inside the roots. Throws `ENOENT` where there is nothing. */
export function holdTarget(enclosure: Enclosure, request: PathRequest): HeldTarget {
  const pin = holdByName(enclosure, request.path);
  if (pin !== undefined) {
    const held = examine(pin, () => request.path);
    if (held !== undefined) return withOneName(enclosure, request, held);
  }
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const held = holdByWalking(enclosure, request);
    if (held !== undefined) return withOneName(enclosure, request, held);
  }
  throw fileSystemError('EAGAIN');
}

function withOneName(enclosure: Enclosure, { asked }: PathRequest, held: HeldTarget): HeldTarget {
  try {
    assertOneName(enclosure, asked, held.path, () => held.stat);
    return held;
  } catch (error) {
    held.pin.close();
    throw error;
  }
}

/** Holds the directory that the path's last part is in. A file whose content is to be replaced may have to be its only name. */
export function holdPlace(enclosure: Enclosure, request: PathRequest, options: WalkOptions): HeldPlace {
  const held = holdAnyPlace(enclosure, request, options);
  if (options.access === 'read' || !options.followLast) return held;
  try {
    assertOneName(enclosure, request.asked, held.place.path, () => held.entry);
    return held;
  } catch (error) {
    held.place.parent.close();
    throw error;
  }
}

function holdAnyPlace(enclosure: Enclosure, request: PathRequest, options: WalkOptions): HeldPlace {
  const parent =
    request.components.length === 0 ? undefined : holdDirectoryByName(enclosure, dirname(request.path));
  if (parent !== undefined) {
    const name = basename(request.path);
    const held = enter(
      { parent, name, missing: [], path: request.path, isDangling: false, made: [] },
      options,
    );
    if (held !== undefined) return held;
  }
  const place = walk(enclosure, request, options);
  try {
    const parentName = assertHeldInside(enclosure, request.asked, place.parent, 'read');
    const name = join(parentName, ...place.missing, place.name);
    assertAllowed(enclosure, request.asked, name, options.access);
    const at = `${place.parent.at}/${place.name}`;
    return { place, at, entry: place.missing.length > 0 ? undefined : entryStat(at) };
  } catch (error) {
    place.parent.close();
    throw error;
  }
}

/**
 * The short way for a path without links: hold first, then ask the system for the name of what is held. Where
 * that is the very path that was judged, nothing was followed to get there; else the walk has to find out.
 */
function holdByName(enclosure: Enclosure, path: string): Pin | undefined {
  let pin: Pin;
  try {
    pin = enclosure.pinner.pin(path);
  } catch {
    return undefined;
  }
  return keepIf(pin, () => pin.name() === path) ? pin : undefined;
}

function holdDirectoryByName(enclosure: Enclosure, path: string): Pin | undefined {
  let pin: Pin | 'missing' | 'other';
  try {
    pin = enclosure.pinner.pinDirectory(path);
  } catch {
    return undefined;
  }
  if (pin === 'missing' || pin === 'other') return undefined;
  const held = pin;
  return keepIf(held, () => held.name() === path) ? held : undefined;
}

function holdByWalking(enclosure: Enclosure, request: PathRequest): HeldTarget | undefined {
  const place = walk(enclosure, request, { access: 'read', followLast: true, createParents: false });
  let pin: Pin;
  try {
    if (place.missing.length > 0) throw fileSystemError('ENOENT');
    pin = enclosure.pinner.pin(`${place.parent.at}/${place.name}`);
  } finally {
    place.parent.close();
  }
  return examine(pin, () => assertHeldInside(enclosure, request.asked, pin, 'read'));
}

/** Undefined for a link: the path goes on behind it. */
function examine(pin: Pin, name: () => string): HeldTarget | undefined {
  let held: HeldTarget | undefined;
  keepIf(pin, () => {
    const stat = pin.stat();
    if (!stat.isSymbolicLink()) held = { pin, stat, path: name() };
    return held !== undefined;
  });
  return held;
}

function enter(place: Place, options: WalkOptions): HeldPlace | undefined {
  let held: HeldPlace | undefined;
  keepIf(place.parent, () => {
    const at = `${place.parent.at}/${place.name}`;
    const entry = entryStat(at);
    if (entry?.isSymbolicLink() !== true || !options.followLast) held = { place, at, entry };
    return held !== undefined;
  });
  return held;
}

/** Closes what is not kept, also when looking at it fails. */
function keepIf(pin: Pin, isWanted: () => boolean): boolean {
  let isKept = false;
  try {
    isKept = isWanted();
  } finally {
    if (!isKept) pin.close();
  }
  return isKept;
}
