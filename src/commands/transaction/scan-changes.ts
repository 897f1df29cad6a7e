import { timeSlices } from '../../platform/clock/time-slices.js';
import {
  type BinaryEntry,
  type BinaryPath,
  binaryEntry,
  binaryNames,
  setBinaryMode,
} from '../../platform/fs/binary-fs.js';
import { type EntryPrint, type PlannedChange, printOf } from './transaction-plan.js';

/** One root as a transaction sees it. All paths are absolute. */
export interface ScannedRoot {
  /** Which of the plan's roots. */
  readonly index: number;
  /** The root itself. */
  readonly lower: BinaryPath;
  /** What the command has changed. */
  readonly upper: BinaryPath;
}

export interface ScanOptions {
  /** The root cannot have been changed before this without the command seeing it. */
  readonly begunNs: bigint;
  /** Why a path below the root may not be changed; undefined: it may. `entry`: what the command has put there. */
  readonly refusal: (
    root: ScannedRoot,
    path: BinaryPath,
    change: 'write' | 'delete',
    entry?: BinaryEntry,
  ) => Refusal | undefined;
  readonly isHidden: (root: number, path: BinaryPath) => boolean;
  /** Directories are moved whole where that can be done: not to another file system. */
  readonly mayMoveTrees: boolean;
  /**
   * Of directories that were there before, with an entry that they had: whether the command still saw that entry. Where
   * it did not, it has removed the directory and made another one.
   */
  readonly stillSeen: (witnesses: readonly Witness[]) => Promise<readonly boolean[]>;
}

/** `silent`: it is left out, and not worth a word. */
export type Refusal = { readonly reason: string } | 'silent';

export interface Witness {
  readonly root: number;
  readonly path: BinaryPath;
}

/** A change that is not made. */
export interface LeftOut {
  readonly root: number;
  readonly path: BinaryPath;
  readonly isDirectory: boolean;
  readonly reason: string;
  readonly isConflict: boolean;
  /** It is made before the next command, if that is possible then. */
  readonly isLater?: true;
  /** The command's version. */
  readonly from?: BinaryPath;
}

export interface ScannedChanges {
  readonly changes: readonly PlannedChange[];
  readonly leftOut: readonly LeftOut[];
}

/** What a command has changed, in the order in which it can be made: what goes, then what comes. */
export async function scanChanges(
  roots: readonly ScannedRoot[],
  options: ScanOptions,
): Promise<ScannedChanges> {
  const scan = new Scan(options);
  for (const root of roots) await scan.visit(root, '', true);
  await scan.removeReplaced();
  scan.keepRepositoriesWhole(roots);
  return { changes: [...scan.gone, ...scan.come], leftOut: scan.leftOut };
}

/** Others have removed what was just looked at: it is looked at again. */
export class ChangedMeanwhile extends Error {}

/** A directory that was there, and is; what it held may be gone. */
interface Merged {
  readonly root: ScannedRoot;
  readonly path: BinaryPath;
  /** What it held, and the command has not touched by name. */
  readonly untouched: readonly BinaryPath[];
}

class Scan {
  readonly gone: PlannedChange[] = [];
  readonly come: PlannedChange[] = [];
  readonly leftOut: LeftOut[] = [];
  readonly #options: ScanOptions;
  readonly #merged: Merged[] = [];
  readonly #slices = timeSlices();

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  /** @param wasThere the root has a directory of this name */
  async visit(root: ScannedRoot, directory: BinaryPath, wasThere: boolean): Promise<void> {
    const { names, close } = openUp(below(root.upper, directory));
    for (const name of names) {
      if (this.#slices.isOver()) await this.#slices.next();
      const path = directory === '' ? name : `${directory}/${name}`;
      const entry = binaryEntry(below(root.upper, path));
      if (entry === undefined) continue;
      const lower = wasThere ? binaryEntry(below(root.lower, path)) : undefined;
      if (entry.kind === 'whiteout') this.#remove(root, path);
      else if (entry.kind === 'dir') await this.#directory(root, path, entry, lower);
      else this.#file(root, path, entry, lower);
    }
    close();
    if (!wasThere) return;
    const touched = new Set(names);
    const untouched = binaryNames(below(root.lower, directory)).filter((name) => !touched.has(name));
    if (untouched.length > 0) this.#merged.push({ root, path: directory, untouched });
  }

  /** A directory that was removed and made again holds nothing of what it held. */
  async removeReplaced(): Promise<void> {
    const { isHidden, stillSeen } = this.#options;
    const asked = this.#merged.flatMap((merged) => {
      const { root, path, untouched } = merged;
      const seen = untouched.find((name) => !isHidden(root.index, below(path, name)));
      return seen === undefined ? [] : [{ merged, witness: { root: root.index, path: below(path, seen) } }];
    });
    if (asked.every(({ merged }) => merged.path === '')) return;
    const replaced: { readonly root: ScannedRoot; readonly git: BinaryPath }[] = [];
    const answers = await stillSeen(asked.map(({ witness }) => witness));
    asked.forEach(({ merged: { root, path, untouched } }, index) => {
      if (answers[index] === true) return;
      const { witness } = asked[index] ?? {};
      if (witness !== undefined && binaryEntry(below(root.lower, witness.path)) === undefined)
        throw new ChangedMeanwhile();
      // A root itself is never made again: who does not see what is in it sees nothing right.
      if (path === '') throw new Error('the layers of the transaction do not fit together');
      const [, git] = KEYSTONE.exec(path) ?? [];
      if (git !== undefined) replaced.push({ root, git });
      else for (const name of untouched) this.#remove(root, below(path, name));
    });
    for (const { root, git } of replaced) this.#refuseAllOf(root, git);
  }

  /** Half of what git has changed is no repository: where others have changed a part of it, none of it is made. */
  keepRepositoriesWhole(roots: readonly ScannedRoot[]): void {
    const conflicts = this.leftOut.filter(({ isConflict }) => isConflict);
    const repositories = new Map<string, { readonly root: number; readonly git: BinaryPath }>();
    for (const { root, path } of conflicts) {
      const [, git] = REPOSITORY.exec(path) ?? [];
      if (git !== undefined) repositories.set(`${root}/${git}`, { root, git });
    }
    for (const { root, git } of repositories.values()) {
      const at = roots[root];
      if (at !== undefined) this.#refuseAllOf(at, git, CHANGED, true);
    }
  }

  /** Nothing of what was changed below a directory is made. */
  #refuseAllOf(
    root: ScannedRoot,
    directory: BinaryPath,
    reason = 'commands may not replace a repository',
    isConflict = false,
  ): void {
    const isElsewhere = (one: { readonly root: number; readonly path: BinaryPath }): boolean =>
      one.root !== root.index || !`${one.path}/`.startsWith(`${directory}/`);
    for (const list of [this.gone, this.come]) list.splice(0, list.length, ...list.filter(isElsewhere));
    const others = this.leftOut.filter(isElsewhere);
    this.leftOut.splice(0, this.leftOut.length, ...others);
    this.#leaveOut(root, directory, true, reason, isConflict);
  }

  async #directory(
    root: ScannedRoot,
    path: BinaryPath,
    entry: BinaryEntry,
    lower: BinaryEntry | undefined,
  ): Promise<void> {
    if (lower?.kind === 'dir') {
      if ((entry.mode & 0o1777) !== (lower.mode & 0o1777)) this.#changeMode(root, path, entry, lower);
      await this.visit(root, path, true);
      return;
    }
    if (this.#isRefused(root, path, 'write', entry)) return;
    if (lower !== undefined && !this.#remove(root, path)) return;
    this.come.push({ change: 'create', kind: 'dir', root: root.index, path, after: plainPrint(entry) });
    await this.visit(root, path, false);
  }

  #changeMode(root: ScannedRoot, path: BinaryPath, entry: BinaryEntry, lower: BinaryEntry): void {
    if (this.#isRefused(root, path, 'write', entry)) return;
    const [before, after] = [printOf(lower), plainPrint(entry)];
    this.come.push({ change: 'modify', kind: 'dir', root: root.index, path, before, after });
  }

  #file(root: ScannedRoot, path: BinaryPath, entry: BinaryEntry, lower: BinaryEntry | undefined): void {
    const from = below(root.upper, path);
    if (entry.kind !== 'file' && entry.kind !== 'link') {
      this.#leaveOut(root, path, false, 'it is neither a file, a directory nor a link', false);
      return;
    }
    if (this.#isRefused(root, path, 'write', entry)) return;
    if (lower !== undefined && lower.kind !== 'dir' && lower.ctimeNs > this.#options.begunNs) {
      this.#leaveOut(root, path, false, CHANGED, true, from);
      return;
    }
    if (lower?.kind === 'dir' && !this.#remove(root, path)) return;
    if (entry.kind === 'file' && (entry.mode & 0o6000) !== 0) setBinaryMode(from, entry.mode & 0o1777);
    // Git's settings may have been rewritten.
    const last = path.endsWith('.git/config') ? (binaryEntry(from) ?? entry) : entry;
    const change = { kind: entry.kind, root: root.index, path, from, after: plainPrint(last) } as const;
    this.come.push(
      lower === undefined || lower.kind === 'dir'
        ? { change: 'create', ...change }
        : { change: 'modify', ...change, before: printOf(lower) },
    );
  }

  /** @returns whether all of it goes. */
  #remove(root: ScannedRoot, path: BinaryPath): boolean {
    const first = this.gone.length;
    const isWhole = this.#removeTree(root, path);
    const last = this.gone.at(-1);
    if (isWhole && last?.kind === 'dir' && this.gone.length > first + 1 && this.#options.mayMoveTrees) {
      const inside = this.gone.splice(first);
      inside.forEach((change, index) => {
        const isTop = index === inside.length - 1;
        this.gone.push(isTop ? { ...change, isTree: true } : { ...change, isInside: true });
      });
    }
    return isWhole;
  }

  /** What is in it first; a directory only where all of it goes. */
  #removeTree(root: ScannedRoot, path: BinaryPath): boolean {
    const at = below(root.lower, path);
    const entry = binaryEntry(at);
    if (entry === undefined) return true;
    const isDirectory = entry.kind === 'dir';
    if (this.#isRefused(root, path, 'delete', entry)) return false;
    const gone = { change: 'delete', root: root.index, path, before: printOf(entry) } as const;
    if (!isDirectory) {
      if (entry.ctimeNs > this.#options.begunNs) {
        this.#leaveOut(root, path, false, CHANGED, true);
        return false;
      }
      this.gone.push({ ...gone, kind: entry.kind === 'link' ? 'link' : 'file' });
      return true;
    }
    let isWhole = true;
    for (const name of binaryNames(at).sort()) {
      if (!this.#removeTree(root, `${path}/${name}`)) isWhole = false;
    }
    if (isWhole) this.gone.push({ ...gone, kind: 'dir' });
    return isWhole;
  }

  #isRefused(root: ScannedRoot, path: BinaryPath, change: 'write' | 'delete', entry: BinaryEntry): boolean {
    const refused = this.#options.refusal(root, path, change, entry);
    if (refused === undefined) return false;
    if (refused === 'silent') return true;
    const from = change === 'write' && entry.kind === 'file' ? below(root.upper, path) : undefined;
    this.#leaveOut(root, path, entry.kind === 'dir', refused.reason, false, from);
    return true;
  }

  #leaveOut(
    { index }: ScannedRoot,
    path: BinaryPath,
    isDirectory: boolean,
    reason: string,
    isConflict: boolean,
    from?: BinaryPath,
  ): void {
    const left = { root: index, path, isDirectory, reason, isConflict };
    this.leftOut.push(from === undefined ? left : { ...left, from });
  }
}

/** A command may have closed what it made: it is opened for a look. */
function openUp(directory: BinaryPath): { readonly names: BinaryPath[]; readonly close: () => void } {
  const mode = binaryEntry(directory)?.mode ?? 0o700;
  const isClosed = (mode & 0o500) !== 0o500;
  if (isClosed) setBinaryMode(directory, mode | 0o500);
  const close = (): void => {
    if (isClosed) setBinaryMode(directory, mode);
  };
  return { names: binaryNames(directory).sort(), close };
}

/** A repository, and what makes it one: who removes that and makes it again has made another one. */
const KEYSTONE = /^((?:.*\/)?\.git)(?:\/(?:objects|refs))?$/s;

const REPOSITORY = /^((?:.*\/)?\.git)(?=\/)/s;

const CHANGED = 'it was changed by others while the command ran';

/** Bits that lend rights never come from a command. */
function plainPrint(entry: BinaryEntry): EntryPrint {
  const print = printOf(entry);
  return { ...print, mode: print.mode & 0o1777 };
}

function below(directory: BinaryPath, path: BinaryPath): BinaryPath {
  if (directory === '') return path;
  return path === '' ? directory : `${directory}/${path}`;
}
