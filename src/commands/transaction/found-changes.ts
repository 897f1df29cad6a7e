import type { BinaryEntry, BinaryPath } from '../../platform/fs/binary-fs.js';
import type { BegunState } from './begun-state.js';
import type { NotPlanned, PlannedChange } from './transaction-plan.js';

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
  /** What the roots were like when the command began. */
  readonly begun: BegunState;
  /** What git makes of a change in a repository; undefined: it is a path like any other. */
  readonly git: (change: FoundChange) => GitVerdict | undefined;
  /** Why a path below the root may not be changed; undefined: it may. `entry`: what the command has put there. */
  readonly refusal: (
    root: ScannedRoot,
    path: BinaryPath,
    change: 'write' | 'delete',
    entry?: BinaryEntry,
  ) => Refusal | undefined;
  readonly isHidden: (root: number, path: BinaryPath) => boolean;
  /** Whether a file is what the command has seen there in the place of a hidden one. */
  readonly isUnchanged: (root: number, path: BinaryPath, upper: BinaryPath, entry: BinaryEntry) => boolean;
  /** Directories are moved whole where that can be done: not to another file system. */
  readonly mayMoveTrees: boolean;
  /**
   * Of directories that were there before, with an entry that they had: whether the command still saw that entry. Where
   * it did not, it has removed the directory and made another one.
   */
  readonly stillSeen: (witnesses: readonly Witness[]) => Promise<readonly boolean[]>;
}

/** `isHarmless`: it is left out, and the rest of the command is not refused for it. */
export interface Refusal {
  readonly reason: string;
  readonly isHarmless?: true;
  /** Only a part of its content was left out. */
  readonly isPart?: true;
  /** A deny pattern refuses it. */
  readonly byPattern?: true;
}

/** What a command has done to one path. */
export interface FoundChange {
  readonly root: ScannedRoot;
  readonly path: BinaryPath;
  /** What the command has put there; undefined: it has removed what was there. */
  readonly upper: BinaryEntry | undefined;
  /** What is there now. */
  readonly lower: BinaryEntry | undefined;
}

export interface Witness {
  readonly root: number;
  readonly path: BinaryPath;
}

/** A change that is not made. */
export interface LeftOut extends NotPlanned {
  /** The command loses nothing by it. */
  readonly isHarmless?: true;
  /** A deny pattern refuses it. */
  readonly byPattern?: true;
  /** It is made before the next command, if that is possible then. */
  readonly isLater?: true;
  /** The command's version. */
  readonly from?: BinaryPath;
}

export interface ScannedChanges {
  readonly changes: readonly PlannedChange[];
  readonly leftOut: readonly LeftOut[];
  /** Files of git that lock what was changed in repositories; absolute, sorted. */
  readonly gitLocks: readonly BinaryPath[];
}

/**
 * What becomes of one changed path: the command's version is committed (`take`, or the file that is named), nothing is
 * (`skip`), or others have changed it.
 */
export type GitVerdict = 'take' | 'skip' | { readonly take: BinaryPath } | { readonly conflict: string };
