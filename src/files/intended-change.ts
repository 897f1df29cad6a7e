import { hash } from 'node:crypto';
import { basename } from 'node:path';
import { type FileIntent, type IntendedChange, MAX_KEPT_CONTENT_BYTES } from '../contract/files.js';
import { type EntryStat, entryStat, isOwnedByUs, linkText } from '../platform/fs/fs-entry.js';
import type { Containment } from './containment.js';
import { PlaceChanged } from './directory-locks.js';
import { readEntry } from './entry-content.js';
import { missingDirectories } from './make-way.js';
import type { OpenPlace } from './open-place.js';

/** A change, and the entry that was at its place when it was examined; undefined if there was none. */
export interface SeenChange {
  readonly change: IntendedChange;
  readonly entry: EntryStat | undefined;
}

/** Examines the entry that a change will replace. */
export function seeChange(
  containment: Containment,
  { place, at }: OpenPlace,
  after: string | null,
): SeenChange {
  const { path } = place;
  const entry = entryStat(at);
  if (entry === undefined) return { change: { path, before: null, after }, entry };
  if (!entry.isFile()) {
    const isLink = entry.isSymbolicLink();
    const before = sha256(isLink ? (linkText(at) ?? '') : '');
    return { change: { path, before, after, beforeKind: isLink ? 'link' : 'other' }, entry };
  }
  const { sha256: before, stat, bytes } = readEntry(containment, at, MAX_KEPT_CONTENT_BYTES);
  const beforeMode = stat.mode & 0o7777;
  const isPlain = isOwnedByUs(stat) && (beforeMode & LENDS_RIGHTS) === 0;
  const owner = isPlain ? {} : { beforeOwner: { uid: stat.uid, gid: stat.gid } };
  const change = { path, before, after, beforeMode, ...owner };
  return { change: bytes === undefined ? change : { ...change, content: bytes }, entry: stat };
}

/** The permission bits of a new file with its content at `staged`. */
export function modeOfNew(staged: string): Pick<IntendedChange, 'afterMode'> {
  const entry = entryStat(staged);
  return entry === undefined ? {} : { afterMode: entry.mode & 0o7777 };
}

/** Set-user-ID and set-group-ID. */
const LENDS_RIGHTS = 0o6000;

/** The directories to create for these changes, each once, for the intent. */
export function madeFor(opened: readonly OpenPlace[]): Pick<FileIntent, 'made'> {
  const made = new Set(opened.flatMap(({ place }) => missingDirectories(place)));
  return made.size === 0 ? {} : { made: [...made] };
}

/** @throws PlaceChanged if another entry is there now: then it is examined again. */
export function assertAsSeen(entry: EntryStat | undefined, at: string): void {
  const now = entryStat(at);
  const isSame =
    now?.ino === entry?.ino &&
    now?.dev === entry?.dev &&
    now?.size === entry?.size &&
    now?.mtimeMs === entry?.mtimeMs &&
    now?.ctimeMs === entry?.ctimeMs;
  if (isSame) return;
  throw new PlaceChanged(`${now?.ino}:${now?.ctimeMs}`, basename(at), isSwapped(entry, now));
}

/** A link is there, or the same file was moved away and back. A normal writer does neither. */
function isSwapped(entry: EntryStat | undefined, now: EntryStat | undefined): boolean {
  if (entry?.isFile() !== true || now === undefined) return false;
  const isSameContent =
    now.ino === entry.ino &&
    now.dev === entry.dev &&
    now.size === entry.size &&
    now.mtimeMs === entry.mtimeMs;
  return !now.isFile() || isSameContent;
}

export function sha256(content: Uint8Array | string): string {
  return hash('sha256', content);
}
