import { dirname } from 'node:path';
import type { GuardedPath } from '../../contract/files.js';
import { type EntryStat, entryStat } from '../../platform/fs/fs-entry.js';
import { type HeldEntry, holdEntry } from '../../platform/fs/held-entry.js';
import type { GuardWatch } from '../sandbox/guard-mounts.js';
import { isWithin } from '../sandbox/mount-holder.js';

/*
 * Masks hide names. If the host gives a hidden file another one (it moves the file or a directory above it, or makes a hard
 * link), a command could read it there: the command is ended. A file that is saved in its place stays hidden.
 */

/** So many are held by a descriptor, the directories above them first: of others a removal counts as a move. */
const MOST_HELD = 256;
/** So many are held at once when the command begins: most commands have ended before more are worth it. */
const FEW = 64;

/**
 * Undefined: nothing is hidden.
 * @param begunMs the command sees what was changed before
 */
export function watchHidden(
  hidden: readonly GuardedPath[],
  roots: readonly string[],
  begunMs: number,
): GuardWatch | undefined {
  return hidden.length === 0 ? undefined : new HiddenWatch(() => indexOf(hidden, roots), begunMs);
}

/** What may be moved: what is hidden, and the directories above it. */
interface Index {
  readonly entries: readonly GuardedPath[];
  readonly byDirectory: ReadonlyMap<string, readonly GuardedPath[]>;
}

class HiddenWatch implements GuardWatch {
  readonly #index: () => Index;
  readonly #begunMs: number;
  readonly #held = new Map<string, HeldEntry | undefined>();
  /** Of directories that are not held. */
  readonly #inodes = new Map<string, number | undefined>();
  #isHolding = false;

  constructor(index: () => Index, begunMs: number) {
    this.#index = index;
    this.#begunMs = begunMs;
  }

  begin(): void {
    if (this.#index().entries.length <= FEW) this.#hold();
  }

  /** The files too: no directory that is watched says that a file has got a second name elsewhere. */
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

  /** What makes git run programs is looked at before it is real. */
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

  /** Of those that are not held, where something has happened in their directory. */
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

/** What could not be held was gone already when it was to be: it counts as moved. */
function isElsewhere(path: string, held: HeldEntry | undefined): boolean {
  return held === undefined ? statOf(path) === undefined : held.isElsewhere();
}

/** By the list: it is the very same one as long as no directory of the roots has changed. */
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

/** Inside the roots, the outer ones first. */
function directoriesAbove(hidden: readonly GuardedPath[], roots: readonly string[]): readonly GuardedPath[] {
  const found = new Set<string>();
  for (const { path } of hidden) {
    const root = roots.find((place) => isWithin(path, place));
    if (root === undefined) continue;
    for (let at = dirname(path); at.length > root.length && !found.has(at); at = dirname(at)) found.add(at);
  }
  return [...found].sort().map((path) => ({ path, type: 'dir' }));
}

/** Undefined where nothing is, or the way there is closed. */
function statOf(path: string): EntryStat | undefined {
  try {
    return entryStat(path);
  } catch {
    return undefined;
  }
}
