import { contentHash } from '../../platform/fs/binary-content.js';
import { type BinaryEntry, type BinaryPath, binaryEntry } from '../../platform/fs/binary-fs.js';

/** Tells one state of an entry from the next. */
export interface EntryPrint {
  readonly kind: 'file' | 'link' | 'dir' | 'special';
  readonly size: number;
  readonly mode: number;
  readonly mtimeNs: string;
  /** SHA-256 of a link's target, or of the content of a file of up to 1 MB; left out where it was not read. */
  readonly content?: string;
  /** The same entry with the same times is unchanged. A copy has others, so they say no more than that. */
  readonly dev?: string;
  readonly ino?: string;
  readonly ctimeNs?: string;
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
  /** What will be there; in a `DonePlan` what is there, as it was committed. Left out: nothing. */
  readonly after?: EntryPrint;
  /** The whole directory is moved, with all that is in it: the changes before this one that are `isInside`. */
  readonly isTree?: true;
  /** It goes, or comes, with a directory that is moved whole. */
  readonly isInside?: true;
  /** In a `DonePlan`: others had made the same directory. */
  readonly wasThere?: true;
}

/** Something that a command has changed, and that is not planned. */
export interface NotPlanned {
  readonly root: number;
  readonly path: BinaryPath;
  readonly isDirectory: boolean;
  readonly reason: string;
  readonly isConflict: boolean;
}

/** `takeBack`: a change that cannot be made takes back those that were. `keep_rest`: the others are made all the same. */
export type OnConflict = 'takeBack' | 'keep_rest';

/** What a transaction is about to do: once it is on the disk it will be done, by whatever process. */
export interface TransactionPlan {
  readonly version: 1;
  readonly roots: readonly string[];
  /** Their inodes: a directory with another inode in the place of a root is not that root. Left out: not known. */
  readonly inodes?: readonly string[];
  /** Of the command; null where a signal ended it. */
  readonly exitCode?: number | null;
  /** Left out: `keep_rest`. */
  readonly onConflict?: OnConflict;
  /** A step that fails for a passing reason is tried again later; else it fails like any other. Left out: true. */
  readonly waits?: boolean;
  /** In the order in which they are made. */
  readonly changes: readonly PlannedChange[];
  /** For the process that completes it: what the result has to list besides. Left out: nothing. */
  readonly leftOut?: readonly NotPlanned[];
}

/** What was done: the numbers are places in `changes`. */
export interface DonePlan extends TransactionPlan {
  /** What was not made, or was taken back. */
  readonly failed: readonly FailedChange[];
  /** Nothing of it is left. */
  readonly isTakenBack?: true;
  /** The rest was taken back. These could not be, mostly because others have changed them again. */
  readonly left?: readonly FailedChange[];
}

export interface FailedChange {
  readonly index: number;
  readonly reason: string;
  /** Others have changed it since it was looked at. */
  readonly isConflict: boolean;
  /** It may succeed when it is tried again: there is no room on the disk, or nothing can be written for now. */
  readonly isPassing?: true;
  /** It could be made, and is not kept because another one could not. */
  readonly isTakenBack?: true;
}

/** Files up to this size are compared by content, larger ones by size and time. */
const COMPARED_BYTES = 1024 * 1024;

/** Without reading anything: says of the same entry whether it has changed, and nothing of a copy. */
export function printOf(entry: BinaryEntry): EntryPrint {
  const { kind, dev, ino, size, mtimeNs, mode } = entry;
  return { kind: kind === 'whiteout' ? 'special' : kind, dev, ino, size, mtimeNs: `${mtimeNs}`, mode };
}

/** With its content. Undefined where nothing is. */
export function printAt(path: BinaryPath): EntryPrint | undefined {
  const entry = binaryEntry(path);
  if (entry === undefined) return undefined;
  const print = { ...printOf(entry), ctimeNs: `${entry.ctimeNs}` };
  const content = entry.size > COMPARED_BYTES ? undefined : contentHash(path, entry);
  return content === undefined ? print : { ...print, content };
}

/**
 * Whether the entry at a path has the kind, mode and content that were printed. Times and inodes decide only where the
 * content was not read. Of a directory only its mode counts: what is in it changes by itself.
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

/** Two entries with the same kind, mode and content, however large they are. */
export function isSameVersion(one: BinaryPath, other: BinaryPath): boolean {
  const [a, b] = [binaryEntry(one), binaryEntry(other)];
  if (a === undefined || b === undefined || a.kind !== b.kind) return false;
  if (a.kind === 'dir' || a.mode !== b.mode || a.size !== b.size) return false;
  return (a.dev === b.dev && a.ino === b.ino) || contentHash(one, a) === contentHash(other, b);
}

/** Of old versions, all transactions together: the oldest make room. */
export const KEPT_BYTES = 2 * 1024 ** 3;

/** Where the old version of a change is kept, in the transaction's directory. */
export function oldVersion(directory: BinaryPath, index: number): BinaryPath {
  return `${directory}/old/${index}`;
}

/** What is worth a word: without the changes that are not kept because another one could not be made. */
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

/** The changes that move with a directory which is moved whole. */
export function insideOf(changes: readonly PlannedChange[], index: number): readonly PlannedChange[] {
  const top = changes[index];
  if (top?.isTree !== true) return [];
  let first = index;
  while (changes[first - 1]?.isInside === true && isBelow(changes[first - 1], top)) first--;
  return changes.slice(first, index);
}

function isBelow(change: PlannedChange | undefined, { root, path }: PlannedChange): boolean {
  return change?.root === root && change.path.startsWith(`${path}/`);
}
