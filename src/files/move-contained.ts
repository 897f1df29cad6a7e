import type { ChangeOptions } from '../contract/files.js';
import { ToolError } from '../errors/tool-error.js';
import { moveEntry, removeEntry } from '../platform/fs/fs-entry.js';
import type { Pin } from '../platform/fs/pin.js';
import { DirectoryLocks } from './directory-locks.js';
import { admit, type Enclosure } from './enclosure.js';
import { fileSystemError, syncChange, withFailures } from './file-failure.js';
import { type HeldPlace, holdPlace } from './hold.js';
import { assertAsSeen, type SeenChange, seeChange } from './intended-change.js';
import { assertOneName } from './one-name.js';

const ENTRY_ITSELF = { access: 'write', followLast: false, createParents: false } as const;

/**
 * Removes a file, or a link and not what it leads to.
 * @throws DirectoryBusy when it is to be said what goes, and another process is replacing files there
 */
export async function removeContained(
  enclosure: Enclosure,
  asked: string,
  { intend, check }: ChangeOptions,
  abandonedLock?: string,
): Promise<void> {
  const request = admit(enclosure, asked, 'write');
  const step = <Value>(action: () => Value): Value => withFailures('remove', asked, action);
  const held = step(() => holdPlace(enclosure, request, ENTRY_ITSELF));
  try {
    step(() => assertIsNoDirectory(held));
    if (intend === undefined) {
      step(() => removeEntry(held.at));
    } else {
      const seen = step(() => seeChange(enclosure, held, null));
      await intend({ op: 'remove', changes: [seen.change] });
      check?.();
      step(() => locked([held], abandonedLock, [seen], () => removeEntry(held.at)));
    }
    await syncChange(asked, [held.place.parent]);
  } finally {
    held.place.parent.close();
  }
}

/**
 * Gives a file or a link another name; what had that name is replaced. Directories are refused: below another
 * name, what a pattern denies by its place (`a/secret.txt`) would no longer be denied.
 * @throws DirectoryBusy as `removeContained` does
 */
export async function renameContained(
  enclosure: Enclosure,
  from: string,
  to: string,
  { intend, check }: ChangeOptions,
  abandonedLock?: string,
): Promise<void> {
  const source = admit(enclosure, from, 'write');
  const target = admit(enclosure, to, 'write');
  const step = <Value>(action: () => Value): Value => withFailures('rename', to, action);
  const held = withFailures('rename', from, () => holdPlace(enclosure, source, ENTRY_ITSELF));
  try {
    withFailures('rename', from, () => assertIsNoDirectory(held));
    // Under another root it might be read.
    assertOneName(enclosure, from, held.place.path, () => held.entry);
    const destination = step(() => holdPlace(enclosure, target, ENTRY_ITSELF));
    try {
      step(() => assertIsPlaceForFile(to, destination));
      const move = (): void => moveEntry(held.at, destination.at);
      if (intend === undefined) {
        step(move);
      } else {
        const seen = step(() => seeRename(enclosure, held, destination));
        await intend({ op: 'rename', changes: seen.map(({ change }) => change) });
        check?.();
        step(() => locked([held, destination], abandonedLock, seen, move));
      }
      // The new name first: of a file that the sync cannot finish with, one name at least is on the disk.
      await syncChange(to, [destination.place.parent, ...otherParent(held, destination)]);
    } finally {
      destination.place.parent.close();
    }
  } finally {
    held.place.parent.close();
  }
}

function otherParent({ place: from }: HeldPlace, { place: to }: HeldPlace): readonly Pin[] {
  return from.parent.name() === to.parent.name() ? [] : [from.parent];
}

function seeRename(enclosure: Enclosure, from: HeldPlace, to: HeldPlace): SeenChange[] {
  const source = seeChange(enclosure, from, null);
  const target = seeChange(enclosure, to, source.change.before);
  const { path: movedFrom, beforeMode: afterMode } = source.change;
  const moved = { ...target.change, movedFrom, ...(afterMode === undefined ? {} : { afterMode }) };
  return [source, { ...target, change: moved }];
}

/** The step itself, while what it replaces is what was said. */
function locked(
  places: readonly HeldPlace[],
  abandonedLock: string | undefined,
  seen: readonly SeenChange[],
  step: () => void,
): void {
  const locks = new DirectoryLocks(abandonedLock);
  try {
    for (const { place } of places) locks.take(place.parent);
    for (const [index, { at }] of places.entries()) assertAsSeen(seen[index]?.entry, at);
    step();
  } finally {
    locks.release();
  }
}

function assertIsNoDirectory({ entry }: HeldPlace): void {
  if (entry === undefined) throw fileSystemError('ENOENT');
  if (entry.isDirectory()) throw fileSystemError('EISDIR');
}

function assertIsPlaceForFile(asked: string, { place, entry }: HeldPlace): void {
  if (entry?.isDirectory() === true) throw fileSystemError('EISDIR');
  if (place.missing.length === 0) return;
  throw new ToolError(
    'execution_failed',
    `Cannot rename to ${JSON.stringify(asked)}: its directory does not exist. Create it first.`,
    { details: { errno: 'ENOENT', path: asked } },
  );
}
