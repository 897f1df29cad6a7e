import type { ChangeOptions } from '../contract/files.js';
import { ToolError } from '../errors/tool-error.js';
import { moveEntry, removeEntry } from '../platform/fs/fs-entry.js';
import type { Handle } from '../platform/fs/open-handle.js';
import { admit, type Containment } from './containment.js';
import { DirectoryLocks } from './directory-locks.js';
import { fileSystemError, syncChange, withFailures } from './file-failure.js';
import { assertAsSeen, type SeenChange, seeChange } from './intended-change.js';
import { assertOneName } from './one-name.js';
import { type OpenPlace, openPlace } from './open-place.js';

const ENTRY_ITSELF = { access: 'write', followLast: false, createParents: false } as const;

/**
 * Removes a file, or a link without its target.
 * @throws DirectoryBusy if the intent is announced and another process is replacing files there
 */
export async function removeContained(
  containment: Containment,
  asked: string,
  { intend, check }: ChangeOptions,
  abandonedLock?: string,
): Promise<void> {
  const request = admit(containment, asked, 'write');
  const step = <Value>(action: () => Value): Value => withFailures('remove', asked, action);
  const opened = step(() => openPlace(containment, request, ENTRY_ITSELF));
  try {
    step(() => assertIsNoDirectory(opened));
    if (intend === undefined) {
      step(() => removeEntry(opened.at));
    } else {
      const seen = step(() => seeChange(containment, opened, null));
      await intend({ op: 'remove', changes: [seen.change] });
      check?.();
      step(() => locked([opened], abandonedLock, [seen], () => removeEntry(opened.at)));
    }
    await syncChange(asked, [opened.place.parent]);
  } finally {
    opened.place.parent.close();
  }
}

/**
 * Renames a file or a link; an existing entry with the new name is replaced. Directories are refused: with
 * another name, a pattern with a path (`a/secret.txt`) would no longer match below it.
 * @throws DirectoryBusy as `removeContained` does
 */
export async function renameContained(
  containment: Containment,
  from: string,
  to: string,
  { intend, check }: ChangeOptions,
  abandonedLock?: string,
): Promise<void> {
  const source = admit(containment, from, 'write');
  const target = admit(containment, to, 'write');
  const step = <Value>(action: () => Value): Value => withFailures('rename', to, action);
  const opened = withFailures('rename', from, () => openPlace(containment, source, ENTRY_ITSELF));
  try {
    withFailures('rename', from, () => assertIsNoDirectory(opened));
    // It might be readable under another root.
    assertOneName(containment, from, opened.place.path, () => opened.entry);
    const destination = step(() => openPlace(containment, target, ENTRY_ITSELF));
    try {
      step(() => assertIsPlaceForFile(to, destination));
      const move = (): void => moveEntry(opened.at, destination.at);
      if (intend === undefined) {
        step(move);
      } else {
        const seen = step(() => seeRename(containment, opened, destination));
        await intend({ op: 'rename', changes: seen.map(({ change }) => change) });
        check?.();
        step(() => locked([opened, destination], abandonedLock, seen, move));
      }
      // The new name first: if the sync fails, at least one name of the file is on disk.
      await syncChange(to, [destination.place.parent, ...otherParent(opened, destination)]);
    } finally {
      destination.place.parent.close();
    }
  } finally {
    opened.place.parent.close();
  }
}

function otherParent({ place: from }: OpenPlace, { place: to }: OpenPlace): readonly Handle[] {
  return from.parent.name() === to.parent.name() ? [] : [from.parent];
}

function seeRename(containment: Containment, from: OpenPlace, to: OpenPlace): SeenChange[] {
  const source = seeChange(containment, from, null);
  const target = seeChange(containment, to, source.change.before);
  const { path: movedFrom, beforeMode: afterMode } = source.change;
  const moved = { ...target.change, movedFrom, ...(afterMode === undefined ? {} : { afterMode }) };
  return [source, { ...target, change: moved }];
}

/** The step itself, if the replaced entry is still the announced one. */
function locked(
  places: readonly OpenPlace[],
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

function assertIsNoDirectory({ entry }: OpenPlace): void {
  if (entry === undefined) throw fileSystemError('ENOENT');
  if (entry.isDirectory()) throw fileSystemError('EISDIR');
}

function assertIsPlaceForFile(asked: string, { place, entry }: OpenPlace): void {
  if (entry?.isDirectory() === true) throw fileSystemError('EISDIR');
  if (place.missing.length === 0) return;
  throw new ToolError(
    'execution_failed',
    `Cannot rename to ${JSON.stringify(asked)}: its directory does not exist. Create it first.`,
    { details: { errno: 'ENOENT', path: asked } },
  );
}
