import { dirname } from 'node:path';
import type { GuardedPath } from '../../contract/files.js';
import { type EntryStat, entryStat } from '../../platform/fs/fs-entry.js';
import { type HeldEntry, holdEntry } from '../../platform/fs/held-entry.js';
import type { GuardWatch } from '../sandbox/guard-mounts.js';
import { isWithin } from '../sandbox/mount-holder.js';

/*
 * Masks hide names. If the host gives a hidden file another name (it moves the file or a directory above it,
 * or creates a hard link), a command could read it there, so the command is ended. A file saved in its place
 * stays hidden.
 */

/**
 * How many are held by descriptors, the directories above them first: for others, a removal counts as a move.
 */
const MOST_HELD = 256;
/** How many are held when the command begins: most commands end before more would matter. */
const FEW = 64;

/**
 * Undefined if nothing is hidden.
 * @param begunMs the command sees earlier changes
 */
export function watchHidden(
  hidden: readonly GuardedPath[],
  roots: readonly string[],
  begunMs: number,
): GuardWatch | undefined {
  return hidden.length === 0 ? undefined : new HiddenWatch(() => indexOf(hidden, roots), begunMs);
}

/** The entries that could be moved: hidden ones, and the directories above them. */
interface Index {
  readonly entries: readonly GuardedPath[];
  readonly byDirectory: ReadonlyMap<string, readonly GuardedPath[]>;
}

class HiddenWatch implements GuardWatch {
  readonly #index: () => Index;
  readonly #begunMs: number;
  readonly #held = new Map<string, HeldEntry | undefined>();
  /** The inode numbers of directories that are not held open. */
  readonly #inodes = new Map<string, number | undefined>();
  #isHolding = false;

  constructor(index: () => Index, begunMs: number) {
    this.#index = index;
    this.#begunMs = begunMs;
  }

  begin(): void {
    if (this.#index().entries.length <= FEW) this.#hold();
  }

  /** The files too: no event in a watched directory reports a second name elsewhere. */
  get watched(): readonly string[] {
    if (!this.#isHolding) this.#hold();
    const { entries, byDirectory } = this.#index();
    const files = entries.filter(({ path, type }) => type === 'file' && this.#held.has(path));
    return [...byDirectory.keys(), ...files.map(({ path }) => path)];
  }

  lost(at?: string): readonly string[] {
    if (at !== undefined) {
      const entries = this.#index().byDirectory.get(at) ?? [{ path: at, type: 'file' as const }];
      return entries.filter((entry) => this.#isLost(entry)).map(({ path }) => path);
    }
    const held = [...this.#held].filter(([path, one]) => isElsewhere(path, one)).map(([path]) => path);
    return [...held, ...this.#lostOfOthers()];
  }

  /** Files that make git run programs are checked before the commit. */
  disarm(): readonly string[] {
    return [];
  }

  end(): void {
    for (const held of this.#held.values()) held?.close();
    this.#held.clear();
  }

  #hold(): void {
    this.#isHolding = true;
    const { entries } = this.#index();
    for (const { path } of entries.slice(0, MOST_HELD)) this.#held.set(path, holdEntry(path));
    for (const { path, type } of entries.slice(MOST_HELD))
      if (type === 'dir') this.#inodes.set(path, statOf(path)?.ino);
  }

  /** Entries without a descriptor, after an event in their directory. */
  #lostOfOthers(): readonly string[] {
    const { entries, byDirectory } = this.#index();
    if (entries.length === this.#held.size) return [];
    return [...byDirectory].flatMap(([directory, inside]) => {
      const stat = statOf(directory);
      if (stat !== undefined && stat.ctimeMs < this.#begunMs) return [];
      const others = inside.filter(({ path }) => !this.#held.has(path));
      return others.filter((entry) => this.#isLost(entry)).map(({ path }) => path);
    });
  }

  #isLost({ path, type }: GuardedPath): boolean {
    if (this.#held.has(path)) return isElsewhere(path, this.#held.get(path));
    const stat = statOf(path);
    if (stat === undefined) return true;
    if (type === 'dir') return this.#inodes.has(path) && this.#inodes.get(path) !== stat.ino;
    return stat.nlink > 1 && stat.ctimeMs >= this.#begunMs;
  }
}

/** An entry that could not be opened was already gone, and counts as moved. */
function isElsewhere(path: string, held: HeldEntry | undefined): boolean {
  return held === undefined ? statOf(path) === undefined : held.isElsewhere();
}

/** By the list, which stays the same object while no directory of the roots changes. */
const indexes = new WeakMap<readonly GuardedPath[], Index>();

function indexOf(hidden: readonly GuardedPath[], roots: readonly string[]): Index {
  const known = indexes.get(hidden);
  if (known !== undefined) return known;
  const entries = [...directoriesAbove(hidden, roots), ...hidden];
  const byDirectory = new Map<string, GuardedPath[]>();
  for (const entry of entries) {
    const directory = dirname(entry.path);
    const beside = byDirectory.get(directory);
    if (beside === undefined) byDirectory.set(directory, [entry]);
    else beside.push(entry);
  }
  const index = { entries, byDirectory };
  indexes.set(hidden, index);
  return index;
}

/** Inside the roots, outermost first. */
function directoriesAbove(hidden: readonly GuardedPath[], roots: readonly string[]): readonly GuardedPath[] {
  const found = new Set<string>();
  for (const { path } of hidden) {
    const root = roots.find((place) => isWithin(path, place));
    if (root === undefined) continue;
    for (let at = dirname(path); at.length > root.length && !found.has(at); at = dirname(at)) found.add(at);
  }
  return [...found].sort().map((path) => ({ path, type: 'dir' }));
}

/** Undefined if there is none, or it is inaccessible. */
function statOf(path: string): EntryStat | undefined {
  try {
    return entryStat(path);
  } catch {
    return undefined;
  }
}
