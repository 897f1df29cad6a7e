import { timeSlices } from '../../platform/clock/time-slices.js';
import {
  type BinaryEntry,
  type BinaryPath,
  binaryEntry,
  binaryNames,
  setBinaryMode,
} from '../../platform/fs/binary-fs.js';
import { LONGEST_PATH, spaceOf } from '../../platform/fs/tree-bytes.js';
import { type CopiedEntry, findAttributeChanges } from './attribute-changes.js';
import type { GitVerdict, LeftOut, ScannedChanges, ScannedRoot, ScanOptions } from './found-changes.js';
import { conflictsOfMoves, type GoneTwice } from './moved-meanwhile.js';
import { type NewDirectories, placeOf, withWholeTrees } from './new-trees.js';
import { addsSetIds, normalizeSetIds, plainPrint, SET_ID, SET_ID_OF_DIRECTORY } from './set-ids.js';
import { isOnlyOpened, isSameVersion, type PlannedChange, printOf } from './transaction-plan.js';

/** The result of a scan, without git's lock files. */
interface Scanned extends Omit<ScannedChanges, 'gitLocks'> {
  /** The disk usage of the changes; if they are copied to another file system, with filled holes. */
  readonly bytes: number;
}

/**
 * The changes of a command in the order of their commit: removals, then additions.
 * @throws TooMuch for a path that is too long
 */
export async function scanChanges(roots: readonly ScannedRoot[], options: ScanOptions): Promise<Scanned> {
  const scan = new Scan(options);
  for (const root of roots) await scan.root(root);
  const attributes = findAttributeChanges(scan.copied);
  await scan.removeReplaced();
  const { changes, leftOut } = await attributes;
  if (scan.come.length > 0)
    scan.leftOut.push(...(await conflictsOfMoves(scan.goneTwice, roots, options.begun)));
  scan.keepRepositoriesWhole(roots);
  const come = options.mayMoveTrees ? withWholeTrees(scan.come, roots, scan.entries) : scan.come;
  const all = { changes: [...scan.gone, ...come, ...changes], leftOut: [...scan.leftOut, ...leftOut] };
  return { ...all, bytes: scan.bytes };
}

/** Another program has removed an entry during the scan: the scan is repeated. */
export class ChangedMeanwhile extends Error {}

/** The changes are too large, or a path in them is too long, to be committed. The message gives the reason. */
export class TooMuch extends Error {}

interface FoundEntry {
  /** The command's entry. */
  readonly entry: BinaryEntry;
  /** The current entry. */
  readonly lower: BinaryEntry | undefined;
  /** The root has its directory. */
  readonly wasThere: boolean;
}

/** A directory that existed and exists; some of its content may be removed. */
interface Merged {
  readonly root: ScannedRoot;
  readonly path: BinaryPath;
  /** Its entries that the command did not touch by name. */
  readonly untouched: readonly BinaryPath[];
}

class Scan {
  readonly gone: PlannedChange[] = [];
  readonly come: PlannedChange[] = [];
  readonly leftOut: LeftOut[] = [];
  readonly goneTwice: GoneTwice[] = [];
  readonly copied: CopiedEntry[] = [];
  /** The number of entries in each new directory. */
  readonly entries: NewDirectories = new Map();
  bytes = 0;
  /** The changes of the current root are moved, not copied. */
  #isNear = true;
  readonly #options: ScanOptions;
  readonly #merged: Merged[] = [];
  readonly #slices = timeSlices();

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  root(root: ScannedRoot): Promise<void> {
    const [upper, lower] = [binaryEntry(root.upper), binaryEntry(root.lower)];
    this.#isNear = upper?.dev === lower?.dev;
    if (upper !== undefined && lower?.kind === 'dir') this.#changeMode(root, '', upper, lower);
    return this.visit(root, '', true);
  }

  /** @param wasThere the root has a directory with this name */
  async visit(root: ScannedRoot, directory: BinaryPath, wasThere: boolean): Promise<void> {
    const above = directory === '' ? '' : `${directory}/`;
    const { names, close } = openUp(below(root.upper, directory));
    for (const name of names) {
      if (this.#slices.isOver()) await this.#slices.next();
      const path = above + name;
      const upper = below(root.upper, path);
      if (upper.length > LONGEST_PATH) throw new TooMuch('it has created a path that is too long');
      const entry = binaryEntry(upper);
      if (entry === undefined) continue;
      this.bytes += spaceOf(entry, this.#isNear);
      const lower = wasThere ? binaryEntry(below(root.lower, path)) : undefined;
      if (entry.kind === 'whiteout') this.#remove(root, path);
      else if (entry.kind === 'dir') await this.#directory(root, path, { entry, lower, wasThere });
      else this.#file(root, path, { entry, lower, wasThere }, upper);
    }
    close();
    if (!wasThere) {
      this.entries.set(placeOf(root.index, directory), names.length);
      return;
    }
    const touched = new Set(names);
    const untouched = binaryNames(below(root.lower, directory)).filter((name) => !touched.has(name));
    if (untouched.length > 0) this.#merged.push({ root, path: directory, untouched });
  }

  /** Removes the old content of directories that the command removed and recreated. */
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
      // A root itself is never recreated: a command that does not see its content has a broken view.
      if (path === '') throw new Error('the layers of the transaction do not fit together');
      const [, git] = KEYSTONE.exec(path) ?? [];
      if (git !== undefined) replaced.push({ root, git });
      else for (const name of untouched) this.#remove(root, below(path, name));
    });
    for (const { root, git } of replaced) this.#refuseAllOf(root, git);
  }

  /**
   * A repository with only a part of git's changes is broken: if another program has changed a part, none of
   * it is committed.
   */
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

  /** Commits none of the changes below a directory. */
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
    this.#leaveOut(root, directory, { isDirectory: true, reason, isConflict });
  }

  async #directory(
    root: ScannedRoot,
    path: BinaryPath,
    { entry, lower, wasThere }: FoundEntry,
  ): Promise<void> {
    const { begun } = this.#options;
    const at = below(root.lower, path);
    const isGit = IN_REPOSITORY.test(path);
    if (lower?.kind === 'dir') {
      if (!isGit && !begun.isSameDirectory(at, lower)) {
        this.#conflict(root, path, { isDirectory: true, reason: REPLACED });
        return;
      }
      this.#changeMode(root, path, entry, lower);
      await this.visit(root, path, true);
      return;
    }
    if (lower === undefined && wasThere && !isGit && begun.had(at)) {
      this.#conflict(root, path, { isDirectory: true, reason: GONE });
      return;
    }
    if (this.#isRefused(root, path, 'write', entry)) return;
    if (lower !== undefined && !this.#remove(root, path)) return;
    if (normalizeSetIds(root, path, entry)) this.#leaveOut(root, path, SET_ID_OF_DIRECTORY);
    this.come.push({ change: 'create', kind: 'dir', root: root.index, path, after: plainPrint(entry) });
    await this.visit(root, path, false);
  }

  /** If only another program has changed it, the current mode stays. */
  #changeMode(root: ScannedRoot, path: BinaryPath, entry: BinaryEntry, lower: BinaryEntry): void {
    const [now, wanted] = [lower.mode & 0o1777, entry.mode & 0o1777];
    if (addsSetIds(entry, lower)) this.#leaveOut(root, path, SET_ID_OF_DIRECTORY);
    this.copied.push({ root, path, entry, lower });
    if (now === wanted) return;
    const before = this.#options.begun.modeOf(below(root.lower, path), lower);
    if (before !== undefined && (before & 0o1777) === wanted) return;
    if (this.#isRefused(root, path, 'write', entry)) return;
    if (before === undefined || (before & 0o1777) !== now) {
      this.#conflict(root, path, { isDirectory: true, reason: CHANGED });
      return;
    }
    const [printed, after] = [printOf(lower), plainPrint(entry)];
    this.come.push({ change: 'modify', kind: 'dir', root: root.index, path, before: printed, after });
  }

  #file(root: ScannedRoot, path: BinaryPath, found: FoundEntry, from: BinaryPath): void {
    const { entry, lower } = found;
    if (this.#options.isUnchanged(root.index, path, from, entry)) return;
    if (entry.kind !== 'file' && entry.kind !== 'link') {
      const reason = 'it is neither a file, a directory nor a link';
      this.#leaveOut(root, path, { reason, isHarmless: true });
      return;
    }
    if (this.#isRefused(root, path, 'write', entry, lower)) return;
    const verdict =
      this.#options.git({ root, path, upper: entry, lower }) ?? this.#compare(root, path, found);
    if (verdict === 'skip') return;
    if (typeof verdict === 'object' && 'conflict' in verdict) {
      this.#conflict(root, path, { reason: verdict.conflict, from });
      return;
    }
    if (lower?.kind === 'dir' && !this.#remove(root, path)) {
      this.#leaveOut(root, path, { reason: REPLACES_KEPT });
      return;
    }
    if (entry.kind === 'file' && (entry.mode & 0o6000) !== 0) {
      setBinaryMode(from, entry.mode & 0o1777);
      this.#leaveOut(root, path, SET_ID);
    }
    const last = typeof verdict === 'object' ? verdict.take : from;
    // Git's settings may have been rewritten, and logs merged.
    const print = last !== from || path.endsWith('.git/config') ? (binaryEntry(last) ?? entry) : entry;
    const { kind } = entry;
    const after = plainPrint(print);
    this.come.push(
      lower === undefined || lower.kind === 'dir'
        ? { change: 'create', kind, root: root.index, path, from: last, after }
        : { change: 'modify', kind, root: root.index, path, from: last, after, before: printOf(lower) },
    );
  }

  /** Compares a path that the command wrote with the other programs' changes. */
  #compare(root: ScannedRoot, path: BinaryPath, { entry, lower, wasThere }: FoundEntry): GitVerdict {
    const { begun } = this.#options;
    const at = below(root.lower, path);
    if (lower === undefined) {
      const wasRemoved = wasThere && !IN_REPOSITORY.test(path) && begun.had(at);
      return wasRemoved ? { conflict: GONE } : 'take';
    }
    // Its entries are compared when it is removed.
    if (lower.kind === 'dir') return begun.isSameDirectory(at, lower) ? 'take' : { conflict: REPLACED };
    const isSame = (): boolean => isSameVersion(below(root.upper, path), at);
    if (!begun.isSameEntry(at, lower)) return isSame() ? 'skip' : { conflict: CHANGED };
    if (!isOnlyOpened(entry, lower) || !isSame()) return 'take';
    this.copied.push({ root, path, entry, lower });
    return 'skip';
  }

  /** @returns whether all of it is removed. */
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

  /** First its entries; a directory only if all of it is removed. */
  #removeTree(root: ScannedRoot, path: BinaryPath): boolean {
    const at = below(root.lower, path);
    const entry = binaryEntry(at);
    if (entry === undefined) {
      if (!IN_REPOSITORY.test(path) && this.#options.begun.had(at))
        this.goneTwice.push({ root: root.index, path });
      return true;
    }
    if (this.#isRefused(root, path, 'delete', entry)) return false;
    const verdict =
      this.#options.git({ root, path, upper: undefined, lower: entry }) ??
      this.#compareGone(root, path, entry);
    if (verdict === 'skip') return false;
    const isDirectory = entry.kind === 'dir';
    if (typeof verdict === 'object') {
      if ('conflict' in verdict) this.#conflict(root, path, { isDirectory, reason: verdict.conflict });
      return false;
    }
    const gone = { change: 'delete', root: root.index, path, before: printOf(entry) } as const;
    if (!isDirectory) {
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

  /** Compares an entry that the command removed with the other programs' changes. */
  #compareGone(root: ScannedRoot, path: BinaryPath, entry: BinaryEntry): GitVerdict {
    const { begun } = this.#options;
    const at = below(root.lower, path);
    if (entry.kind !== 'dir') return begun.isSameEntry(at, entry) ? 'take' : { conflict: CHANGED };
    const mode = begun.modeOf(at, entry);
    const isThis = IN_REPOSITORY.test(path)
      ? begun.isSameDirectory(at, entry)
      : begun.isKnownDirectory(at, entry);
    const isSame = isThis && (mode === undefined || mode === entry.mode);
    return isSame ? 'take' : { conflict: REPLACED };
  }

  /** @param lower the current entry: an unchanged one counts as no change */
  #isRefused(
    root: ScannedRoot,
    path: BinaryPath,
    change: 'write' | 'delete',
    entry: BinaryEntry,
    lower?: BinaryEntry,
  ): boolean {
    const refused = this.#options.refusal(root, path, change, entry);
    if (refused === undefined) return false;
    if (refused.isPart === true) {
      this.#leaveOut(root, path, { reason: refused.reason, isHarmless: true });
      return false;
    }
    const from = below(root.upper, path);
    // For a hidden file, the answer would confirm a guess.
    const isVisible = lower !== undefined && !this.#options.isHidden(root.index, path);
    if (isVisible && isSameVersion(from, below(root.lower, path))) return true;
    const isDirectory = entry.kind === 'dir';
    const kept = change === 'write' && entry.kind === 'file' ? { from } : {};
    const { reason, isHarmless, byPattern } = refused;
    const marks = { ...(isHarmless && { isHarmless }), ...(byPattern && { byPattern }) };
    this.#leaveOut(root, path, { reason, ...marks, isDirectory, ...kept });
    return true;
  }

  #conflict(root: ScannedRoot, path: BinaryPath, why: Omit<WhyLeftOut, 'isConflict'>): void {
    this.#leaveOut(root, path, { ...why, isConflict: true });
  }

  #leaveOut({ index }: ScannedRoot, path: BinaryPath, why: WhyLeftOut): void {
    this.leftOut.push({ root: index, path, isDirectory: false, isConflict: false, ...why });
  }
}

type WhyLeftOut = Pick<LeftOut, 'reason' | 'isHarmless' | 'from'> &
  Partial<Pick<LeftOut, 'isDirectory' | 'isConflict'>>;

/** A command may have made its own directory inaccessible: it is opened for the scan. */
function openUp(directory: BinaryPath): { readonly names: BinaryPath[]; readonly close: () => void } {
  const mode = binaryEntry(directory)?.mode ?? 0o700;
  const isClosed = (mode & 0o500) !== 0o500;
  if (isClosed) setBinaryMode(directory, mode | 0o500);
  const close = (): void => {
    if (isClosed) setBinaryMode(directory, mode);
  };
  return { names: binaryNames(directory).sort(), close };
}

/** A repository and its essential parts: removing and recreating one makes another repository. */
const KEYSTONE = /^((?:.*\/)?\.git)(?:\/(?:objects|refs))?$/s;

const REPOSITORY = /^((?:.*\/)?\.git)(?=\/)/s;

const IN_REPOSITORY = /(?:^|\/)\.git(?:\/|$)/s;

const CHANGED = 'another program changed it while the command ran';
const REPLACED =
  'another program moved it, put something else in its place or changed its mode while the command ran';
const REPLACES_KEPT = 'the directory that it would replace contains files that must stay';
const GONE = 'another program removed or moved it while the command ran';

function below(directory: BinaryPath, path: BinaryPath): BinaryPath {
  if (directory === '') return path;
  return path === '' ? directory : `${directory}/${path}`;
}
