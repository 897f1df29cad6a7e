import type { BinaryEntry, BinaryPath } from '../../platform/fs/binary-fs.js';
import type { BegunState } from './begun-state.js';
import type { NotPlanned, PlannedChange } from './transaction-plan.js';

/** One root in a transaction. All paths are absolute. */
export interface ScannedRoot {
  /** Its index in the plan. */
  readonly index: number;
  /** The root itself. */
  readonly lower: BinaryPath;
  /** The command's changes. */
  readonly upper: BinaryPath;
}

export interface ScanOptions {
  /** The state of the roots when the command began. */
  readonly begun: BegunState;
  /** The verdict for a change in a repository; undefined for an ordinary path. */
  readonly git: (change: FoundChange) => GitVerdict | undefined;
  /** Why a path below the root may not be changed; undefined if it may. `entry`: the command's entry. */
  readonly refusal: (
    root: ScannedRoot,
    path: BinaryPath,
    change: 'write' | 'delete',
    entry?: BinaryEntry,
  ) => Refusal | undefined;
  readonly isHidden: (root: number, path: BinaryPath) => boolean;
  /** Whether a file equals the version that the command saw in place of a hidden one. */
  readonly isUnchanged: (root: number, path: BinaryPath, upper: BinaryPath, entry: BinaryEntry) => boolean;
  /** Directories can be moved as a whole: not to another file system. */
  readonly mayMoveTrees: boolean;
  /**
   * For directories that existed before, each with an entry: whether the command still saw that entry. If
   * not, it has removed the directory and created another.
   */
  readonly stillSeen: (witnesses: readonly Witness[]) => Promise<readonly boolean[]>;
}

/** `isHarmless`: the change is left out without refusing the rest of the command. */
export interface Refusal {
  readonly reason: string;
  readonly isHarmless?: true;
  /** Only a part of its content was left out. */
  readonly isPart?: true;
  /** A deny pattern refuses it. */
  readonly byPattern?: true;
}

/** A command's change of one path. */
export interface FoundChange {
  readonly root: ScannedRoot;
  readonly path: BinaryPath;
  /** The command's entry; undefined if it removed the entry. */
  readonly upper: BinaryEntry | undefined;
  /** The current entry. */
  readonly lower: BinaryEntry | undefined;
}

export interface Witness {
  readonly root: number;
  readonly path: BinaryPath;
}

/** A change that is not committed. */
export interface LeftOut extends NotPlanned {
  /** The command loses nothing if it is left out. */
  readonly isHarmless?: true;
  /** A deny pattern refuses it. */
  readonly byPattern?: true;
  /** Another program has it open for writing, and running the command again does not help. */
  readonly isOpenElsewhere?: true;
  /** It is committed before the next command, if possible. */
  readonly isLater?: true;
  /** The command's version. */
  readonly from?: BinaryPath;
}

export interface ScannedChanges {
  readonly changes: readonly PlannedChange[];
  readonly leftOut: readonly LeftOut[];
  /** Git's lock files for the changed repositories; absolute, sorted. */
  readonly gitLocks: readonly BinaryPath[];
}

/**
 * The decision about one changed path: commit the command's version (`take`, or the named file), commit
 * nothing (`skip`), or report a conflict.
 */
export type GitVerdict = 'take' | 'skip' | { readonly take: BinaryPath } | { readonly conflict: string };
