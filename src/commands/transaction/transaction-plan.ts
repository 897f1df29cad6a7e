import type { BinaryEntry, BinaryPath } from '../../platform/fs/binary-fs.js';

/** Tells one state of an entry from the next. */
export interface EntryPrint {
  readonly kind: 'file' | 'link' | 'dir' | 'special';
  /** Left out where it is not known yet: a copy gets one of its own. */
  readonly ino?: string;
  readonly size: number;
  readonly mtimeNs: string;
  readonly mode: number;
}

/** One change that a transaction makes to a root. */
export interface PlannedChange {
  readonly change: 'create' | 'modify' | 'delete';
  readonly kind: 'file' | 'link' | 'dir';
  /** Which of the plan's roots. */
  readonly root: number;
  /** Below the root. */
  readonly path: BinaryPath;
  /** Where the new version lies; left out where nothing is put in place: a directory is made, something goes. */
  readonly from?: BinaryPath;
  /** What has to be there now; left out: nothing. */
  readonly before?: EntryPrint;
  /** What will be there; left out: nothing. */
  readonly after?: EntryPrint;
  /** The whole directory is moved, with all that is in it. */
  readonly isTree?: true;
  /** It goes, or comes, with a directory that is moved whole. */
  readonly isInside?: true;
}

/** What a transaction is about to do: once it is on the disk it will be done, by whatever process. */
export interface TransactionPlan {
  readonly version: 1;
  readonly roots: readonly string[];
  /** Their inodes: a directory with another inode in the place of a root is not that root. Left out: not known. */
  readonly inodes?: readonly string[];
  /** Of the command; null where a signal ended it. */
  readonly exitCode?: number | null;
  /** In the order in which they are made. */
  readonly changes: readonly PlannedChange[];
}

/** What was done: the numbers are places in `changes`. */
export interface DonePlan extends TransactionPlan {
  readonly failed: readonly FailedChange[];
}

export interface FailedChange {
  readonly index: number;
  readonly reason: string;
  /** Others have changed it since it was looked at. */
  readonly isConflict: boolean;
  /** It may succeed when it is tried again: there is no room on the disk, or nothing can be written for now. */
  readonly isPassing?: true;
}

export function printOf(entry: BinaryEntry): EntryPrint {
  const { kind, ino, size, mtimeNs, mode } = entry;
  return { kind: kind === 'whiteout' ? 'special' : kind, ino, size, mtimeNs: `${mtimeNs}`, mode };
}

/** Of a directory only that it is one: what is in it changes by itself. */
export function isAsPrinted(entry: BinaryEntry | undefined, print: EntryPrint | undefined): boolean {
  if (entry === undefined || print === undefined) return entry === undefined && print === undefined;
  const now = printOf(entry);
  if (now.kind !== print.kind) return false;
  if (now.kind === 'dir') return true;
  return (
    (print.ino === undefined || now.ino === print.ino) &&
    now.size === print.size &&
    now.mtimeNs === print.mtimeNs
  );
}

/** Of old versions, all transactions together: the oldest make room. */
export const KEPT_BYTES = 2 * 1024 ** 3;

/** Where the old version of a change is kept, in the transaction's directory. */
export function oldVersion(directory: BinaryPath, index: number): BinaryPath {
  return `${directory}/old/${index}`;
}
