import { basename } from 'node:path';
import type { ChangeOptions, FileChange, WriteOutcome } from '../contract/files.js';
import { ToolError } from '../errors/tool-error.js';
import { syncDirectory, writeNewFile } from '../platform/fs-bytes.js';
import {
  type EntryStat,
  entryStat,
  linkEntry,
  moveEntry,
  moveToFreeName,
  removeEntry,
} from '../platform/fs-entry.js';
import { type DirectoryLocks, removeIfThere } from './directory-locks.js';
import { admit, type Enclosure } from './enclosure.js';
import { withFailures } from './file-failure.js';
import { copyHeld, hashHeld } from './held-content.js';
import { type HeldPlace, holdPlace } from './hold.js';
import { assertAsSeen, madeFor, type SeenChange, seeChange, sha256 } from './intended-change.js';
import type { PathRequest } from './parse-request.js';
import { type TemporaryKind, temporaryName } from './temporary-name.js';
import { assertMayWrite, assertRegular, badWrite } from './write-contained.js';

/** One try: it holds what it touches, and knows how to take everything back. */
export class WriteAttempt {
  readonly #items: Item[] = [];
  readonly #enclosure: Enclosure;
  readonly #locks: DirectoryLocks;

  constructor(enclosure: Enclosure, locks: DirectoryLocks) {
    this.#enclosure = enclosure;
    this.#locks = locks;
  }

  stage(change: FileChange, request: PathRequest | undefined): void {
    withFailures('write', change.path, () => {
      const held = holdChange(this.#enclosure, request, change, true);
      const temporary = change.bytes === null ? undefined : beside(held);
      this.#items.push({ change, held, temporary, backup: undefined, state: 'staged', seen: undefined });
      assertMayChange(change, held);
      if (temporary === undefined || change.bytes === null) return;
      const like = held.entry ?? this.#modelOf(change);
      const { mode } = change;
      writeNewFile(temporary, change.bytes, {
        ...(like === undefined ? {} : { like }),
        ...(mode === undefined ? {} : { mode }),
      });
    });
  }

  /** Says what the last step will replace. */
  async announce(intend: NonNullable<ChangeOptions['intend']>): Promise<void> {
    this.#each((item) => {
      const { change, held } = item;
      item.seen = seeChange(this.#enclosure, held, change.bytes === null ? null : sha256(change.bytes));
      const { expectedSha256 } = change;
      if (expectedSha256 !== undefined && item.seen.change.before !== expectedSha256)
        throw stale(change.path);
    });
    const changes = this.#items.flatMap(({ seen, change: { mode } }) =>
      seen === undefined ? [] : [mode === undefined ? seen.change : { ...seen.change, afterMode: mode }],
    );
    await intend({ op: 'writeAll', changes, ...madeFor(this.#items.map(({ held }) => held)) });
  }

  commit(): void {
    // What is only made anew needs no lock: taking a free name is one step.
    const replaces = this.#items.some(({ change }) => change.expectedSha256 !== null);
    if (replaces) this.#each(({ held }) => this.#locks.take(held.place.parent));
    this.#each(({ change, held, seen }) => {
      assertUnchanged(this.#enclosure, change, held);
      if (seen !== undefined) assertAsSeen(seen.entry, held.at);
    });
    this.#each((item) => this.#put(item));
    const directories = new Map(
      this.#items.map(({ held }) => [held.place.parent.name(), held.place.parent.at]),
    );
    for (const at of directories.values()) syncDirectory(at);
    for (const item of this.#items) {
      if (item.backup !== undefined) removeIfThere(item.backup);
      item.backup = undefined;
    }
  }

  outcomes(): readonly WriteOutcome[] {
    return this.#items.map(({ change, held, state }) => ({
      path: held.place.path,
      created: state === 'created',
      bytesWritten: change.bytes?.length ?? 0,
    }));
  }

  /** Puts back what was replaced, the last first. */
  discard(): void {
    const lost: string[] = [];
    for (const item of this.#items.toReversed()) {
      try {
        takeBack(item);
      } catch {
        lost.push(
          `${JSON.stringify(item.change.path)} (its old content is in ${basename(item.backup ?? '')})`,
        );
      }
    }
    if (lost.length > 0) {
      throw new ToolError('execution_failed', `Cannot put back ${lost.join(', ')}. Restore it by hand.`);
    }
  }

  close(): void {
    this.#locks.release();
    for (const { held, temporary, state } of this.#items) {
      if (temporary !== undefined && state === 'staged') removeIfThere(temporary);
      held.place.parent.close();
    }
  }

  #each(step: (item: Item) => void): void {
    for (const item of this.#items) withFailures('write', item.change.path, () => step(item));
  }

  #modelOf({ like }: FileChange): EntryStat | undefined {
    if (like === undefined) return undefined;
    const { place, entry } = holdPlace(this.#enclosure, admit(this.#enclosure, like, 'read'), {
      access: 'read',
      followLast: true,
      createParents: false,
    });
    place.parent.close();
    return entry?.isFile() === true ? entry : undefined;
  }

  #put(item: Item): void {
    const { change, held, temporary } = item;
    if (temporary !== undefined && change.expectedSha256 === null) {
      moveToFreeName(temporary, held.at);
      item.state = 'created';
      return;
    }
    const isThere = entryStat(held.at) !== undefined;
    // A single rename is all or nothing by itself.
    if (isThere && this.#items.length > 1) this.#backUp(item);
    if (temporary === undefined) removeEntry(held.at);
    else moveEntry(temporary, held.at);
    item.state = temporary === undefined ? 'removed' : isThere ? 'replaced' : 'created';
  }

  #backUp(item: Item): void {
    const backup = beside(item.held, 'backup');
    if (!linkEntry(item.held.at, backup)) copyHeld(this.#enclosure, item.held.at, backup);
    item.backup = backup;
  }
}

interface Item {
  readonly change: FileChange;
  readonly held: HeldPlace;
  /** The new content, beside its place; undefined where the file goes. */
  readonly temporary: string | undefined;
  /** The old file under another name, as long as it may have to come back. */
  backup: string | undefined;
  state: 'staged' | 'created' | 'replaced' | 'removed';
  /** What was said that it will replace; undefined where nobody was told. */
  seen: SeenChange | undefined;
}

/** Holds the place of a change. */
export function holdChange(
  enclosure: Enclosure,
  request: PathRequest | undefined,
  { bytes }: FileChange,
  createParents: boolean,
): HeldPlace {
  if (request === undefined) throw badWrite('a change has no path');
  return holdPlace(enclosure, request, { access: 'write', followLast: bytes !== null, createParents });
}

export function assertMayChange(change: FileChange, held: HeldPlace): void {
  const { path, bytes, expectedSha256 } = change;
  if (bytes !== null) assertMayWrite(path, held, 'overwrite');
  else if (held.entry !== undefined) assertRegular(path, held.entry);
  if (held.entry === undefined && (bytes === null || typeof expectedSha256 === 'string')) {
    throw stale(path, 'it is gone');
  }
  if (held.entry !== undefined && expectedSha256 === null) throw stale(path, 'there is a file by now');
}

function beside({ place }: HeldPlace, kind: TemporaryKind = 'content'): string {
  return `${place.parent.at}/${temporaryName(kind)}`;
}

function assertUnchanged(
  enclosure: Enclosure,
  { path, expectedSha256 }: FileChange,
  { at }: HeldPlace,
): void {
  if (typeof expectedSha256 !== 'string') return;
  if (entryStat(at) === undefined) throw stale(path, 'it is gone');
  if (hashHeld(enclosure, at) !== expectedSha256) throw stale(path);
}

function takeBack(item: Item): void {
  const { state, backup, held } = item;
  if (state === 'created') removeIfThere(held.at);
  else if (backup === undefined) return;
  else if (state === 'replaced') moveEntry(backup, held.at);
  else if (state === 'removed') moveToFreeName(backup, held.at);
  else removeIfThere(backup);
  item.backup = undefined;
}

function stale(path: string, what?: string): ToolError {
  const reason = 'File content changed since last read';
  const why = what === undefined ? reason : `${reason}: ${what}`;
  return new ToolError(
    'stale_file',
    `Cannot write ${JSON.stringify(path)}: ${why}. Read it again, then repeat the change.`,
    { details: { path, reason } },
  );
}
