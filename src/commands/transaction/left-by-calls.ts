import { type BinaryEntry, type BinaryPath, binaryEntry, toBinary } from '../../platform/fs/binary-fs.js';
import type { LeftOut, ScannedChanges, ScanOptions } from './found-changes.js';
import type { OverlayMount } from './overlay-mount.js';
import { type EntryPrint, type PlannedChange, printOf } from './transaction-plan.js';

type RefusalOf = ScanOptions['refusal'];

interface RefusedPath {
  readonly left: LeftOut;
  /** What the call has put there; undefined: it has removed something. */
  readonly print: EntryPrint | undefined;
}

/**
 * What the calls of a preview have left so far. The layers hold the changes of all of them, and each call has rules of its
 * own: what one has left is not the next one's, as long as that one does not touch it.
 */
export class LeftByCalls {
  readonly #mounts: readonly OverlayMount[];
  readonly #refused = new Map<string, RefusedPath>();
  #seen: ReadonlyMap<string, PlannedChange> = new Map();

  constructor(mounts: readonly OverlayMount[]) {
    this.#mounts = mounts;
  }

  /** What holds for all of it. @param byPattern what holds for every call */
  refusal(byPattern: RefusalOf): RefusalOf {
    return (root, path, change, entry) =>
      this.#refused.get(keyOf({ root: root.index, path }))?.left ?? byPattern(root, path, change, entry);
  }

  /** The same, and what a call has changed by its own rules. */
  refusalFor(own: RefusalOf, byPattern: RefusalOf): RefusalOf {
    const known = this.refusal(byPattern);
    return (root, path, change, entry) => {
      const key = keyOf({ root: root.index, path });
      return (this.#isAsLeft(key, change, entry) ? known : own)(root, path, change, entry);
    };
  }

  /** @returns of what was found at the end of a call, what that call has done. */
  add({ changes, leftOut }: ScannedChanges): Pick<ScannedChanges, 'changes' | 'leftOut'> {
    const before = this.#seen;
    this.see(changes);
    for (const key of this.#seen.keys()) this.#refused.delete(key);
    const refused = leftOut.filter((left) => {
      const print = this.#printAt(left);
      const known = this.#refused.get(keyOf(left));
      if (!left.isConflict) this.#refused.set(keyOf(left), { left, print });
      return known === undefined || !isSame(known.print, print);
    });
    return { changes: changedSince(before, this.#seen), leftOut: refused };
  }

  /** A file tool has changed what is new in it. */
  see(changes: readonly PlannedChange[]): void {
    this.#seen = new Map(changes.map((change) => [keyOf(change), change]));
  }

  #isAsLeft(key: string, change: 'write' | 'delete', entry: BinaryEntry | undefined): boolean {
    const refused = this.#refused.get(key);
    const seen = this.#seen.get(key);
    if (change === 'delete') {
      return seen?.change === 'delete' || (refused !== undefined && refused.print === undefined);
    }
    const print = refused?.print ?? seen?.after;
    return print !== undefined && entry !== undefined && isSame(print, plainPrint(entry));
  }

  #printAt({ root, path }: LeftOut): EntryPrint | undefined {
    const entry = binaryEntry(`${toBinary(this.#mounts[root]?.upper ?? '')}/${path}`);
    return entry === undefined || entry.kind === 'whiteout' ? undefined : plainPrint(entry);
  }
}

/** Without the bits that never come from a command. */
function plainPrint(entry: BinaryEntry): EntryPrint {
  const print = printOf(entry);
  return { ...print, mode: print.mode & 0o1777 };
}

/** Of a directory its mode alone: what is in it changes by itself. */
function isSame(one: EntryPrint | undefined, other: EntryPrint | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (one.kind !== other.kind || one.mode !== other.mode) return false;
  return one.kind === 'dir' || (one.size === other.size && one.mtimeNs === other.mtimeNs);
}

function keyOf({ root, path }: { readonly root: number; readonly path: BinaryPath }): string {
  return `${root}/${path}`;
}

/** What a command has changed that found the changes of others. */
function changedSince(
  before: ReadonlyMap<string, PlannedChange>,
  now: ReadonlyMap<string, PlannedChange>,
): readonly PlannedChange[] {
  const changes: PlannedChange[] = [];
  for (const [key, change] of now) {
    const was = before.get(key);
    if (was === undefined || was.change === 'delete') {
      if (was?.change !== change.change) changes.push(change);
    } else if (change.change === 'delete') changes.push(change);
    else if (JSON.stringify(was.after) !== JSON.stringify(change.after)) {
      changes.push({ ...change, change: 'modify' });
    }
  }
  for (const [key, was] of before) {
    if (now.has(key)) continue;
    // What was made and is gone, or was gone and is what it was.
    changes.push({ ...was, change: was.change === 'delete' ? 'create' : 'delete' });
  }
  return changes;
}
