import { contentHash } from '../../platform/fs/binary-content.js';
import { type BinaryEntry, type BinaryPath, binaryEntry } from '../../platform/fs/binary-fs.js';

/** Identifies the state of an entry. */
export interface EntryPrint {
  readonly kind: 'file' | 'link' | 'dir' | 'special';
  readonly size: number;
  readonly mode: number;
  readonly mtimeNs: string;
  /** SHA-256 of a link's target, or of the content of a file of up to 1 MB; left out if it was not read. */
  readonly content?: string;
  /** The same entry with the same times is unchanged. A copy has other numbers, so these prove nothing about a copy. */
  readonly dev?: string;
  readonly ino?: string;
  readonly ctimeNs?: string;
}

/** One change of a root by a transaction. */
export interface PlannedChange {
  readonly change: 'create' | 'modify' | 'delete';
  readonly kind: 'file' | 'link' | 'dir';
  /** The index of the root in the plan. */
  readonly root: number;
  /** Below the root. */
  readonly path: BinaryPath;
  /** The place of the new version; left out if a directory is created or an entry is removed. */
  readonly from?: BinaryPath;
  /** The expected current entry; left out: none. */
  readonly before?: EntryPrint;
  /** The new entry; in a `DonePlan` the committed entry. If absent: none. */
  readonly after?: EntryPrint;
  /** The whole directory moves with its content: the preceding changes with `isInside`. */
  readonly isTree?: true;
  /** It moves with a whole directory. */
  readonly isInside?: true;
  /** In a `DonePlan`: another program had created the same directory. */
  readonly wasThere?: true;
}

/** A command's change that is not planned. */
export interface NotPlanned {
  readonly root: number;
  readonly path: BinaryPath;
  readonly isDirectory: boolean;
  readonly reason: string;
  readonly isConflict: boolean;
}

/** `takeBack`: a failed change undoes the earlier ones. `keep_rest`: the other changes are still made. */
export type OnConflict = 'takeBack' | 'keep_rest';

/** The intended changes of a transaction: once the plan is on disk, some process will complete it. */
export interface TransactionPlan {
  readonly version: 1;
  readonly roots: readonly string[];
  /** The inodes of the roots: a directory with another inode is not that root. If absent: unknown. */
  readonly inodes?: readonly string[];
  /** The command's exit code; null if a signal ended it. */
  readonly exitCode?: number | null;
  /** If absent: `keep_rest`. */
  readonly onConflict?: OnConflict;
  /** A step that fails temporarily is tried again later; otherwise it fails like any other. Default true. */
  readonly waits?: boolean;
  /** The indices of the roots with a landing directory; left out: none. */
  readonly landings?: readonly number[];
  /** In the order of the commit. */
  readonly changes: readonly PlannedChange[];
  /** For the process that completes it: the other entries for the result. If absent: none. */
  readonly leftOut?: readonly NotPlanned[];
}

/** A finished plan; numbers are indices in `changes`. */
export interface DonePlan extends TransactionPlan {
  /** Changes that were not made, or were undone. */
  readonly failed: readonly FailedChange[];
  /** All changes were undone. */
  readonly isTakenBack?: true;
  /** Changes that could not be undone, mostly because another program has changed them again. */
  readonly left?: readonly FailedChange[];
}

export interface FailedChange {
  readonly index: number;
  readonly reason: string;
  /** Another program has changed it since the check. */
  readonly isConflict: boolean;
  /** It may succeed later: the disk is full, or not writable for now. */
  readonly isPassing?: true;
  /** It was possible, but was undone because another change failed. */
  readonly isTakenBack?: true;
}

/** Files up to this size are compared by content, larger ones by size and time. */
const COMPARED_BYTES = 1024 * 1024;

/**
 * Reads no content: it shows whether the same entry has changed, and says nothing about a copy.
 * @param modes the mode bits that count
 */
export function printOf(entry: BinaryEntry, modes = 0o7777): EntryPrint {
  const { kind, dev, ino, size, mtimeNs, mode } = entry;
  const shown = kind === 'whiteout' ? 'special' : kind;
  return { kind: shown, dev, ino, size, mtimeNs: `${mtimeNs}`, mode: mode & modes };
}

/** With its content. */
export function printWithContent(path: BinaryPath, entry: BinaryEntry): EntryPrint {
  const print = { ...printOf(entry), ctimeNs: `${entry.ctimeNs}` };
  const content = entry.size > COMPARED_BYTES ? undefined : contentHash(path, entry);
  return content === undefined ? print : { ...print, content };
}

/**
 * Whether the entry at a path has the recorded kind, mode and content. Times and inodes count only if the
 * content was not read. For a directory only its mode counts: its entries are compared separately.
 */
export function isAsPrinted(path: BinaryPath, print: EntryPrint | undefined): boolean {
  const entry = binaryEntry(path);
  if (entry === undefined || print === undefined) return entry === undefined && print === undefined;
  const now = printOf(entry);
  if (now.kind !== print.kind) return false;
  if (now.kind === 'dir') return (now.mode & 0o1777) === (print.mode & 0o1777);
  if (now.mode !== print.mode || now.size !== print.size) return false;
  const isSameEntry = now.dev === print.dev && now.ino === print.ino && now.mtimeNs === print.mtimeNs;
  if (print.content === undefined) {
    const isIdentified = print.ino !== undefined && now.size <= COMPARED_BYTES;
    return isIdentified ? isSameEntry : now.mtimeNs === print.mtimeNs;
  }
  if (isSameEntry && `${entry.ctimeNs}` === print.ctimeNs) return true;
  return contentHash(path, entry) === print.content;
}

/** Whether two entries have the same kind, mode and content, at any size. */
export function isSameVersion(one: BinaryPath, other: BinaryPath): boolean {
  const [a, b] = [binaryEntry(one), binaryEntry(other)];
  if (a === undefined || b === undefined || a.kind !== b.kind) return false;
  if (a.kind === 'dir' || a.mode !== b.mode || a.size !== b.size) return false;
  if (a.dev === b.dev && a.ino === b.ino) return true;
  try {
    return contentHash(one, a) === contentHash(other, b);
  } catch {
    // Its owner has closed it.
    return false;
  }
}

/**
 * Whether a command may only have opened a file for writing: then the overlay has copied it, with its time. A file with a
 * second name counts as changed, because both names belong together.
 */
export function isOnlyOpened(copy: BinaryEntry, original: BinaryEntry): boolean {
  if (copy.kind !== 'file' || original.kind !== 'file' || copy.links > 1) return false;
  return copy.size === original.size && copy.mode === original.mode && copy.mtimeNs === original.mtimeNs;
}

/** Limit for old versions of all transactions together: the oldest are dropped first. */
export const KEPT_BYTES = 2 * 1024 ** 3;

/** The place of a change's old version in the transaction's directory. */
export function oldVersion(directory: BinaryPath, index: number): BinaryPath {
  return `${directory}/old/${index}`;
}

/** The changes worth reporting: without those dropped because another failed. */
export function withoutSpared({ changes, failed }: DonePlan): Pick<DonePlan, 'changes' | 'failed'> {
  const byIndex = new Map(failed.map((failure) => [failure.index, failure]));
  const told = [...changes.keys()].filter((index) => byIndex.get(index)?.isTakenBack !== true);
  return {
    changes: told.flatMap((index) => changes[index] ?? []),
    failed: told.flatMap((index, place) => {
      const failure = byIndex.get(index);
      return failure === undefined ? [] : [{ ...failure, index: place }];
    }),
  };
}

/** The changes that move with a whole directory. */
export function insideOf(changes: readonly PlannedChange[], index: number): readonly PlannedChange[] {
  const top = changes[index];
  if (top?.isTree !== true) return [];
  const below = `${top.path}/`;
  const isBelow = (one: PlannedChange | undefined): boolean =>
    one?.isInside === true && one.root === top.root && one.path.startsWith(below);
  let first = index;
  while (isBelow(changes[first - 1])) first--;
  return changes.slice(first, index);
}
