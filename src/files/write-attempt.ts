import { basename } from 'node:path';
import type { ChangeOptions, FileIntent, IntendedChange, WriteOutcome } from '../contract/files.js';
import { ToolError } from '../errors/tool-error.js';
import { stageNewFile, syncDirectory } from '../platform/fs/fs-bytes.js';
import {
  type EntryStat,
  entryStat,
  linkEntry,
  moveEntry,
  moveToFreeName,
  removeEntry,
} from '../platform/fs/fs-entry.js';
import type { Handle } from '../platform/fs/open-handle.js';
import { admit, type Containment } from './containment.js';
import { type DirectoryLocks, PlaceChanged, removeIfThere } from './directory-locks.js';
import { copyEntry, hashEntry } from './entry-content.js';
import { syncChange, withFailures, withLaterFailures } from './file-failure.js';
import { assertAsSeen, madeFor, modeOfNew, type SeenChange, seeChange, sha256 } from './intended-change.js';
import { makeWay } from './make-way.js';
import { type OpenPlace, openPlace } from './open-place.js';
import type { PathRequest } from './parse-request.js';
import {
  asAsked,
  asItWas,
  assertMayChange,
  followsLast,
  openChange,
  type StagedChange,
  stale,
  type WriteKind,
} from './staged-change.js';
import { type TemporaryKind, temporaryName } from './temporary-name.js';

/** One attempt. It keeps the touched entries open, and can undo everything it did. */
export class WriteAttempt {
  readonly #items: Item[] = [];
  readonly #containment: Containment;
  readonly #locks: DirectoryLocks;
  readonly #kind: WriteKind;
  /** All files are in place: a later failure undoes nothing. */
  #isDone = false;

  constructor(containment: Containment, locks: DirectoryLocks, kind: WriteKind) {
    this.#containment = containment;
    this.#locks = locks;
    this.#kind = kind;
  }

  /**
   * Writes the new content next to its place, or into the deepest existing directory on its way. It is on
   * disk when the promise resolves.
   */
  stage({ change, request }: AdmittedChange): Promise<void> {
    return withLaterFailures('write', change.path, async () => {
      const opened = openChange(this.#containment, request, change, this.#kind);
      const temporary = change.bytes === null ? undefined : beside(opened);
      this.#items.push({
        ...{ change, request, opened, staging: opened.place.parent, temporary },
        ...{ backup: undefined, state: 'staged', seen: undefined },
      });
      assertMayChange(change, opened, this.#kind);
      if (temporary === undefined || change.bytes === null) return;
      const { like = change.movedFrom } = change;
      const model = opened.entry ?? this.#modelOf(like);
      const options = this.#kind === 'restore' ? asItWas(change, model) : asAsked(change, model);
      await stageNewFile(temporary, change.bytes, options);
    });
  }

  /** Announces the entries that the last step will replace. */
  async announce(
    intend: NonNullable<ChangeOptions['intend']>,
    directories: Pick<FileIntent, 'made' | 'removed'> = {},
  ): Promise<void> {
    this.#each((item) => {
      const { change, opened } = item;
      item.seen = seeChange(this.#containment, opened, change.bytes === null ? null : sha256(change.bytes));
      const { expectedSha256 } = change;
      if (expectedSha256 !== undefined && item.seen.change.before !== expectedSha256)
        throw stale(change.path);
    });
    const changes = this.#items.flatMap((item) =>
      item.seen === undefined ? [] : [{ ...item.seen.change, ...this.#modeOf(item), ...this.#moveOf(item) }],
    );
    const { made: madeForThem = [] } = madeFor(this.#items.map(({ opened }) => opened));
    const made = [...(directories.made ?? []), ...madeForThem];
    const { removed = [] } = directories;
    await intend({
      op: 'writeAll',
      changes,
      ...(made.length === 0 ? {} : { made }),
      ...(removed.length === 0 ? {} : { removed }),
    });
  }

  async commit(): Promise<void> {
    this.#each((item) => {
      const { change, request, opened } = item;
      if (opened.place.missing.length === 0) return;
      item.opened = makeWay(this.#containment, request, opened, followsLast(change, this.#kind));
    });
    // A new file needs no lock: taking a free name is one step.
    const replaces = this.#items.some(({ change }) => change.expectedSha256 !== null);
    if (replaces) this.#each(({ opened }) => this.#locks.take(opened.place.parent));
    this.#each(({ change, opened, seen }) => {
      assertUnchanged(this.#containment, change, opened);
      if (seen !== undefined) assertAsSeen(seen.entry, opened.at);
    });
    // A moved file is on disk under its new name before the old name is removed.
    const written = this.#items.filter(({ temporary }) => temporary !== undefined);
    const removed = this.#items.filter(({ temporary }) => temporary === undefined);
    this.#putAll(written);
    const [first] = written;
    if (first !== undefined && removed.length > 0) {
      withFailures('write', first.change.path, () => syncParents(written));
    }
    this.#putAll(removed);
    this.#each(assertNotWrittenMeanwhile);
    this.#isDone = true;
    // Names reach the disk in order too: no backup is removed before its replacement, and one sync covers
    // all.
    this.#dropBackups();
    this.#locks.release();
    const [some] = this.#items;
    if (some !== undefined) await syncChange(some.change.path, parentsOf(this.#items));
  }

  outcomes(): readonly WriteOutcome[] {
    return this.#items.map(({ change, opened, state }) => ({
      path: opened.place.path,
      created: state === 'created',
      bytesWritten: change.bytes?.length ?? 0,
    }));
  }

  /** Restores the replaced files, the last one first. */
  discard(): void {
    if (this.#isDone) return;
    const lost: string[] = [];
    // Removed files were removed last, so they are restored first.
    for (const item of this.#items.toReversed().sort((a, b) => rank(a) - rank(b))) {
      try {
        takeBack(item);
      } catch {
        lost.push(
          `${JSON.stringify(item.change.path)} (its old content is in ${basename(item.backup ?? '')})`,
        );
      }
    }
    if (lost.length > 0) {
      throw new ToolError('execution_failed', `Cannot put back ${lost.join(', ')}. Restore it by hand.`, {
        details: { lost },
      });
    }
  }

  close(): void {
    this.#locks.release();
    for (const { opened, staging, temporary, state } of this.#items) {
      if (temporary !== undefined && state === 'staged') removeIfThere(temporary);
      opened.place.parent.close();
      if (staging !== opened.place.parent) staging.close();
    }
  }

  #each(step: (item: Item) => void): void {
    for (const item of this.#items) withFailures('write', item.change.path, () => step(item));
  }

  #modelOf(like: string | undefined): EntryStat | undefined {
    if (like === undefined) return undefined;
    const { place, entry } = openPlace(this.#containment, admit(this.#containment, like, 'read'), {
      access: 'read',
      followLast: true,
      createParents: false,
    });
    place.parent.close();
    return entry?.isFile() === true ? entry : undefined;
  }

  /** The permission bits of a file that is new or gets explicit ones. */
  #modeOf({ change: { mode }, opened, temporary }: Item): Pick<IntendedChange, 'afterMode'> {
    const keepsItsOwn = mode === undefined && this.#kind === 'write' && opened.entry !== undefined;
    return temporary === undefined || keepsItsOwn ? {} : modeOfNew(temporary);
  }

  /** A file that copies the attributes of one removed in the same step has been moved. */
  #moveOf({ change: { like, movedFrom } }: Item): { readonly movedFrom?: string } {
    if (movedFrom !== undefined) return { movedFrom };
    if (like === undefined) return {};
    const source = this.#items.find(({ change }) => change.path === like && change.bytes === null);
    return source === undefined ? {} : { movedFrom: source.opened.place.path };
  }

  #putAll(items: readonly Item[]): void {
    for (const item of items) withFailures('write', item.change.path, () => this.#put(item));
  }

  #put(item: Item): void {
    const { change, opened, temporary } = item;
    if (temporary !== undefined && change.expectedSha256 === null) {
      moveToFreeName(temporary, opened.at);
      item.state = 'created';
      return;
    }
    const isThere = entryStat(opened.at) !== undefined;
    // A single rename is atomic by itself.
    if (isThere && (this.#items.length > 1 || this.#kind === 'restore')) this.#backUp(item);
    if (temporary === undefined) removeEntry(opened.at);
    else moveEntry(temporary, opened.at);
    item.state = temporary === undefined ? 'removed' : isThere ? 'replaced' : 'created';
  }

  #backUp(item: Item): void {
    const backup = beside(item.opened, 'backup');
    if (!linkEntry(item.opened.at, backup)) copyEntry(this.#containment, item.opened.at, backup);
    item.backup = backup;
  }

  #dropBackups(): void {
    for (const item of this.#items) {
      if (item.backup !== undefined) removeIfThere(item.backup);
      item.backup = undefined;
    }
  }
}

/** A change with a checked path. */
export interface AdmittedChange {
  readonly change: StagedChange;
  readonly request: PathRequest;
}

interface Item extends AdmittedChange {
  /** Opened again after its directories are created. */
  opened: OpenPlace;
  /** The directory of the new content. */
  readonly staging: Handle;
  /** The new content; undefined if the file is removed. */
  readonly temporary: string | undefined;
  /** The old file under another name, as long as it may be restored. */
  backup: string | undefined;
  state: 'staged' | 'created' | 'replaced' | 'removed';
  /** The entry that the intent announced; undefined if no intent was recorded. */
  seen: SeenChange | undefined;
}

function beside({ place }: OpenPlace, kind: TemporaryKind = 'content'): string {
  return `${place.parent.at}/${temporaryName(kind)}`;
}

function syncParents(items: readonly Item[]): void {
  // No other call of this process can run between the new names and the removals.
  for (const { at } of eachOnce(items.map(({ opened }) => opened.place.parent))) syncDirectory(at);
}

/** The directories whose names have changed. */
function parentsOf(items: readonly Item[]): readonly Handle[] {
  const parents = items.map(({ opened: { place } }) => place.parent);
  return eachOnce([...parents, ...items.map(({ staging }) => staging)]);
}

function eachOnce(directories: readonly Handle[]): readonly Handle[] {
  return [...new Map(directories.map((directory) => [directory.name(), directory])).values()];
}

function assertUnchanged(
  containment: Containment,
  { path, expectedSha256 }: StagedChange,
  { at }: OpenPlace,
): void {
  if (typeof expectedSha256 !== 'string') return;
  if (entryStat(at) === undefined) throw stale(path, 'it is gone');
  if (hashEntry(containment, at) !== expectedSha256) throw stale(path);
}

/**
 * @throws PlaceChanged if the old file was written after it was examined: its backup has the new content and
 * is restored.
 */
function assertNotWrittenMeanwhile({ backup, seen, opened }: Item): void {
  const was = seen?.entry;
  const now = backup === undefined ? undefined : entryStat(backup);
  if (was === undefined || now === undefined || now.ino !== was.ino) return;
  if (now.size !== was.size || now.mtimeMs !== was.mtimeMs) {
    throw new PlaceChanged(`${now.ino}:${now.ctimeMs}`, opened.place.name, false);
  }
}

function rank({ state }: Item): number {
  return state === 'removed' ? 0 : 1;
}

function takeBack(item: Item): void {
  const { state, backup, opened } = item;
  if (state === 'created') removeIfThere(opened.at);
  else if (backup === undefined) return;
  else if (state === 'replaced') moveEntry(backup, opened.at);
  else if (state === 'removed') moveToFreeName(backup, opened.at);
  else removeIfThere(backup);
  item.backup = undefined;
}
