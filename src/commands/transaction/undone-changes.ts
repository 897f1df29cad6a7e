import { AS_BEFORE } from '../../contract/executor.js';
import { type BinaryEntry, type BinaryPath, binaryEntry, binaryNames } from '../../platform/fs/binary-fs.js';
import { Conflict, HeldPlaces } from './held-places.js';
import { isSameIndex } from './kept-indexes.js';
import {
  type DonePlan,
  type EntryPrint,
  insideOf,
  isAsPrinted,
  isSameVersion,
  oldVersion,
  type PlannedChange,
  printOf,
} from './transaction-plan.js';

/** A change that is not undone, and the reason. */
interface Outcome {
  readonly change: PlannedChange;
  readonly reason: string;
}

/**
 * Computes the undo of a transaction: first its new entries are removed, then removed and replaced ones are
 * restored.
 *
 * 1. A path that another program has changed since stays.
 * 2. A directory is removed only if everything in it is.
 * 3. An entry that replaced one of another kind is removed only if the old one can be restored completely.
 * 4. The entries in `kept` stay, for the given reason.
 */
export class UndoneChanges {
  readonly gone: PlannedChange[] = [];
  readonly come: PlannedChange[] = [];
  readonly outcomes: Outcome[] = [];
  readonly #done: DonePlan;
  readonly #directory: BinaryPath;
  readonly #refusal: (change: PlannedChange) => string | undefined;
  readonly #kept: ReadonlyMap<string, string>;
  readonly #places: HeldPlaces;
  readonly #failed: ReadonlySet<number>;
  /** By key: the entries that will be removed, and restored. */
  readonly #goes = new Set<string>();
  /** The entries that stay because of `kept`, and the directories above them. */
  readonly #holding = new Set<string>();
  readonly #comes = new Map<string, PlannedChange['kind']>();

  /** @param kept by `keyOf` a change */
  constructor(
    done: DonePlan,
    directory: BinaryPath,
    refusal: (change: PlannedChange) => string | undefined,
    kept: ReadonlyMap<string, string>,
  ) {
    this.#kept = kept;
    this.#done = done;
    this.#directory = directory;
    this.#refusal = refusal;
    this.#places = new HeldPlaces({ roots: done.roots });
    this.#failed = new Set(done.failed.map(({ index }) => index));
  }

  close(): void {
    this.#places.close();
  }

  /** The last change first. */
  plan(): void {
    const made = [...this.#done.changes.keys()]
      .reverse()
      .filter((index) => !this.#failed.has(index) && this.#done.changes[index]?.isInside !== true);
    const blocked = this.#blockedPlaces(made);
    for (const index of made) {
      const change = this.#done.changes[index];
      if (change?.change === 'create') this.#remove(change, index, blocked);
    }
    this.#keepReplaced(made);
    for (const index of made) {
      const change = this.#done.changes[index];
      if (change?.change === 'modify') this.#change(change, index);
      else if (change?.change === 'delete') this.#bringBack(change, index);
    }
  }

  /** Places of entries that changed their kind, if the old one cannot be restored. */
  #blockedPlaces(made: readonly number[]): readonly PlannedChange[] {
    return this.#replaced(made).filter((place) =>
      made.some((index) => {
        const change = this.#done.changes[index];
        if (change?.change !== 'delete' || !isAtOrBelow(change, place)) return false;
        return this.#refusal(change) !== undefined || this.#isLost(change, index);
      }),
    );
  }

  #isLost(change: PlannedChange, index: number): boolean {
    const isKept =
      (change.kind === 'dir' && change.isTree !== true) || binaryEntry(this.#old(index)) !== undefined;
    return !isKept && !this.#isBack(change, index);
  }

  /** It was restored since, for example by the same undo in another process. */
  #isBack(change: PlannedChange, index: number): boolean {
    const now = this.#now(change);
    return now !== undefined && isAsPrinted(now.at, change.before) && this.#isTreeBack(index);
  }

  #old(index: number): BinaryPath {
    return oldVersion(this.#directory, index);
  }

  /** For each entry that changed its kind, the new one. */
  #replaced(made: readonly number[]): readonly PlannedChange[] {
    const changes = made.flatMap((index) => this.#done.changes[index] ?? []);
    const deleted = new Set(changes.filter(({ change }) => change === 'delete').map(keyOf));
    return changes.filter((change) => change.change === 'create' && deleted.has(keyOf(change)));
  }

  #remove(change: PlannedChange, index: number, blocked: readonly PlannedChange[]): void {
    if (change.wasThere === true) return;
    const whole = [...insideOf(this.#done.changes, index), change];
    const isBlocked = blocked.some((place) => isAtOrBelow(change, place));
    const going: PlannedChange[] = [];
    for (const one of whole) {
      if (this.#kept.has(keyOf(one))) this.#holding.add(keyOf(one));
      const now = this.#now(one);
      const reason = isBlocked ? NOT_REPLACED : this.#whyKept(one, now);
      if (reason !== undefined) {
        if (reason !== '') this.outcomes.push({ change: one, reason });
      } else if (now !== undefined) {
        const { kind, root, path } = one;
        going.push({ change: 'delete', kind, root, path, before: printOf(now.entry) });
        this.#goes.add(keyOf(one));
      }
    }
    const isTree = change.isTree === true && this.#goes.has(keyOf(change));
    // One by one: a spread of some 100,000 arguments overflows the stack.
    for (const one of isTree ? asTree(going) : going) this.gone.push(one);
  }

  /** Why a new entry is not removed; empty if no message is needed. */
  #whyKept(change: PlannedChange, now: Now | undefined): string | undefined {
    const refused = this.#refusal(change);
    if (refused !== undefined) return refused;
    if (now === undefined) return change.kind === 'dir' ? '' : AS_BEFORE;
    if (!this.#isAsLeft(now, change)) return CHANGED;
    if (change.kind !== 'dir') return this.#kept.get(keyOf(change));
    const staying = binaryNames(now.at)
      .map((name) => keyOf(inside(change, name)))
      .filter((key) => !this.#goes.has(key));
    if (staying.length === 0) return undefined;
    if (!staying.every((key) => this.#holding.has(key))) return NOT_EMPTY;
    this.#holding.add(keyOf(change));
    return HOLDS;
  }

  /** It is as the call left it. */
  #isAsLeft({ at }: Now, change: PlannedChange): boolean {
    return isAsPrinted(at, change.after) || isSameIndex(this.#done, change, this.#directory);
  }

  /** An entry of another kind stays completely if it cannot be removed. */
  #keepReplaced(made: readonly number[]): void {
    for (const place of this.#replaced(made)) {
      if (this.#goes.has(keyOf(place)) || this.#now(place) === undefined) continue;
      const kept = this.gone.filter((change) => isAtOrBelow(change, place));
      for (const change of kept) {
        this.#goes.delete(keyOf(change));
        this.gone.splice(this.gone.indexOf(change), 1);
        this.outcomes.push({ change, reason: NOT_REPLACED });
      }
    }
  }

  #change(change: PlannedChange, index: number): void {
    const reason = this.#refusal(change) ?? this.#whyUnchanged(change, index);
    if (reason !== undefined) this.outcomes.push({ change, reason });
  }

  #whyUnchanged(change: PlannedChange, index: number): string | undefined {
    const { kind, root, path, before, after } = change;
    const now = this.#now({ root, path });
    if (now === undefined) return REMOVED;
    const modified = { change: 'modify', kind, root, path, before: printOf(now.entry) } as const;
    if (kind === 'dir') {
      if (now.entry.kind !== 'dir') return CHANGED;
      if (!isAsPrinted(now.at, after)) return isAsPrinted(now.at, before) ? AS_BEFORE : CHANGED;
      this.come.push(before === undefined ? modified : { ...modified, after: before });
      return undefined;
    }
    const from = this.#old(index);
    const kept = binaryEntry(from);
    if (!this.#isAsLeft(now, change)) {
      return isAsPrinted(now.at, before) || isSameVersion(now.at, from) ? AS_BEFORE : CHANGED;
    }
    if (kept === undefined) return isAsPrinted(now.at, before) ? AS_BEFORE : NOT_KEPT;
    const holds = this.#kept.get(keyOf({ root, path }));
    if (holds !== undefined) return holds;
    this.come.push({ ...modified, kind: fileOrLink(kept), from, after: printOf(kept) });
    return undefined;
  }

  #bringBack(change: PlannedChange, index: number): void {
    const reason = this.#refusal(change) ?? this.#whyNotBack(change, index);
    if (reason === undefined || reason === '') return;
    this.outcomes.push({ change, reason });
    for (const one of insideOf(this.#done.changes, index)) {
      this.outcomes.push({ change: one, reason: reason === TAKEN ? NO_WAY : reason });
    }
  }

  #whyNotBack(change: PlannedChange, index: number): string | undefined {
    const from = this.#old(index);
    if (change.isTree !== true) return this.#whyEntryNotBack(change, from);
    const now = this.#now(change);
    if (now === undefined) {
      if (binaryEntry(from) === undefined) return NOT_KEPT;
      const noWay = this.#whyNoWay(change);
      if (noWay === undefined) this.#bringTree(change, index, from);
      return noWay;
    }
    if (now.entry.kind !== 'dir') return TAKEN;
    // Another program has recreated it: its content is restored into it, as far as possible.
    if (binaryEntry(from) === undefined) return this.#isTreeBack(index) ? AS_BEFORE : NOT_KEPT;
    for (const one of [...insideOf(this.#done.changes, index)].reverse()) {
      const reason = this.#whyEntryNotBack(one, `${from}/${one.path.slice(change.path.length + 1)}`);
      if (reason !== undefined && reason !== '') this.outcomes.push({ change: one, reason });
    }
    return '';
  }

  #isTreeBack(index: number): boolean {
    return insideOf(this.#done.changes, index).every((one) => {
      const now = this.#now(one);
      return now !== undefined && isAsPrinted(now.at, one.before);
    });
  }

  #bringTree(change: PlannedChange, index: number, from: BinaryPath): void {
    const comes = (one: PlannedChange): PlannedChange => {
      this.#comes.set(keyOf(one), one.kind);
      return created(one, one.before);
    };
    const inside = insideOf(this.#done.changes, index).map(comes);
    for (const one of asTree([...inside, { ...comes(change), from }])) this.come.push(one);
  }

  /** Why a removed entry is not restored; empty if no message is needed. */
  #whyEntryNotBack(change: PlannedChange, from: BinaryPath): string | undefined {
    const now = this.#now(change);
    if (change.kind === 'dir') {
      if (now !== undefined) return now.entry.kind === 'dir' ? '' : TAKEN;
    } else if (now !== undefined) {
      return isAsPrinted(now.at, change.before) || isSameVersion(now.at, from) ? AS_BEFORE : TAKEN;
    }
    const kept = change.kind === 'dir' ? undefined : binaryEntry(from);
    if (change.kind !== 'dir' && kept === undefined) return NOT_KEPT;
    const noWay = this.#whyNoWay(change);
    if (noWay !== undefined) return noWay;
    this.#comes.set(keyOf(change), change.kind);
    this.come.push(
      kept === undefined ? created(change, change.before) : { ...created(change, printOf(kept)), from },
    );
    return undefined;
  }

  /** Why nothing can be restored at a place. */
  #whyNoWay({ root, path }: PlannedChange): string | undefined {
    const slash = path.lastIndexOf('/');
    if (slash === -1) return undefined;
    const above = { root, path: path.slice(0, slash) };
    if (this.#comes.get(keyOf(above)) === 'dir') return undefined;
    return this.#now(above)?.entry.kind === 'dir' ? undefined : NO_WAY;
  }

  /** The current entry at a place, if it is not going to be removed. */
  #now(place: Place): Now | undefined {
    if (this.#goes.has(keyOf(place))) return undefined;
    try {
      const at = this.#places.at(place);
      const entry = binaryEntry(at);
      return entry === undefined ? undefined : { at, entry };
    } catch (error) {
      if (error instanceof Conflict) return undefined;
      throw error;
    }
  }
}

type Place = Pick<PlannedChange, 'root' | 'path'>;

interface Now {
  readonly at: BinaryPath;
  readonly entry: BinaryEntry;
}

export function isAsBefore(reason: string): boolean {
  return reason === AS_BEFORE;
}

const CHANGED = 'it was changed since';
const REMOVED = 'it was removed since';
const NOT_KEPT = 'its old content was not kept';
const TAKEN = 'something else is there';
const NOT_EMPTY = 'another program has put something into it';
const HOLDS = 'something in it stays';
const NO_WAY = 'the directory that it was in is gone';
const NOT_REPLACED = 'what was in its place before cannot be put back';

export function keyOf({ root, path }: Place): string {
  return `${root}/${path}`;
}

function inside({ root, path }: Place, name: BinaryPath): Place {
  return { root, path: `${path}/${name}` };
}

function isAtOrBelow({ root, path }: Place, place: Place): boolean {
  return root === place.root && `${path}/`.startsWith(`${place.path}/`);
}

function created({ kind, root, path }: PlannedChange, after: EntryPrint | undefined): PlannedChange {
  return { change: 'create', kind, root, path, ...(after === undefined ? {} : { after }) };
}

function fileOrLink({ kind }: BinaryEntry): 'file' | 'link' {
  return kind === 'link' ? 'link' : 'file';
}

/** @param changes the directory itself is the last */
function asTree(changes: readonly PlannedChange[]): readonly PlannedChange[] {
  return changes.map((change, index) =>
    index === changes.length - 1 ? { ...change, isTree: true } : { ...change, isInside: true },
  );
}
