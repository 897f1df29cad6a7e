import { type BinaryEntry, type BinaryPath, binaryEntry, toBinary } from '../../platform/fs/binary-fs.js';
import type { LeftOut, ScannedChanges, ScanOptions } from './found-changes.js';
import type { OverlayMount } from './overlay-mount.js';
import { type EntryPrint, type PlannedChange, printOf } from './transaction-plan.js';

type RefusalOf = ScanOptions['refusal'];

interface RefusedPath {
  readonly left: LeftOut;
  /** The call's entry; undefined if it removed one. */
  readonly print: EntryPrint | undefined;
}

/**
 * The changes of a preview's calls so far. The layers contain the changes of all calls, and each call has its
 * own rules: a change belongs to its call as long as no later call touches the path.
 */
export class LeftByCalls {
  readonly #mounts: readonly OverlayMount[];
  readonly #refused = new Map<string, RefusedPath>();
  #seen: ReadonlyMap<string, PlannedChange> = new Map();

  constructor(mounts: readonly OverlayMount[]) {
    this.#mounts = mounts;
  }

  /** The refusals for the whole preview. @param byPattern the refusals for every call */
  refusal(byPattern: RefusalOf): RefusalOf {
    return (root, path, change, entry) =>
      this.#refused.get(keyOf({ root: root.index, path }))?.left ?? byPattern(root, path, change, entry);
  }

  /** The same, with the earlier changes of a call by its own rules. */
  refusalFor(own: RefusalOf, byPattern: RefusalOf): RefusalOf {
    const known = this.refusal(byPattern);
    return (root, path, change, entry) => {
      const key = keyOf({ root: root.index, path });
      return (this.#isAsLeft(key, change, entry) ? known : own)(root, path, change, entry);
    };
  }

  /** @returns the changes of the call that has just ended. */
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

  /** Records the new changes as those of a file tool. */
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

/** For a directory only its mode: its entries are compared separately. */
function isSame(one: EntryPrint | undefined, other: EntryPrint | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (one.kind !== other.kind || one.mode !== other.mode) return false;
  return one.kind === 'dir' || (one.size === other.size && one.mtimeNs === other.mtimeNs);
}

function keyOf({ root, path }: { readonly root: number; readonly path: BinaryPath }): string {
  return `${root}/${path}`;
}

/** The changes of a command that started with earlier changes. */
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
    // An entry that was created and removed again, or removed and created again.
    changes.push({ ...was, change: was.change === 'delete' ? 'create' : 'delete' });
  }
  return changes;
}
