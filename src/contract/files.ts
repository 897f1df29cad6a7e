import type { Awaitable } from './call.js';

/** How `write` treats what is there (F006). */
export type WriteMode = 'create' | 'overwrite' | 'append';

export interface FileStat {
  readonly type: 'file' | 'dir' | 'symlink' | 'other';
  /** Bytes. */
  readonly size: number;
  readonly modifiedMs: number;
}

export interface DirectoryEntry {
  readonly name: string;
  /** `unknown`: the entry could not be examined. */
  readonly type: 'file' | 'dir' | 'symlink' | 'other' | 'unknown';
}

export interface ReadOptions {
  /** First byte; default 0. */
  readonly offset?: number;
  /** At most this many bytes; default: to the end. */
  readonly length?: number;
}

export interface PlacedBytes {
  /** Canonical. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface WriteOutcome {
  /** The canonical path that was written. */
  readonly path: string;
  readonly created: boolean;
  readonly bytesWritten: number;
}

/** One part of a change to several files. */
export interface FileChange {
  readonly path: string;
  /** The whole new content; null: the file goes. */
  readonly bytes: Uint8Array | null;
  /**
   * SHA-256 (lower-case hex) of the content that the change is based on; null: there must be no file. Left out:
   * whatever is there is replaced.
   */
  readonly expectedSha256?: string | null;
  /** A new file gets mode and owner of this existing one; left out: the usual ones. */
  readonly like?: string;
  /** Permission bits of the file. Left out: those of what it replaces, or of `like`. */
  readonly mode?: number;
}

/** A change that is about to be made: everything is ready, nothing is replaced yet. */
export interface FileIntent {
  readonly op: 'write' | 'writeAll' | 'remove' | 'rename';
  readonly changes: readonly IntendedChange[];
  /** Directories that are made for it, canonical, outermost first; left out where there are none. */
  readonly made?: readonly string[];
  /** Empty directories that it removes; left out where there are none. */
  readonly removed?: readonly DirectoryMode[];
}

/** A directory with its permission bits. `path` is canonical. */
export interface DirectoryMode {
  readonly path: string;
  readonly mode: number;
}

/** The numbers of the user and the group that own a file. */
export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Larger contents are not kept for an undo: that would take as much memory, and as much disk again. */
export const MAX_KEPT_CONTENT_BYTES = 16 * 1024 * 1024;

export interface IntendedChange {
  /** Canonical. */
  readonly path: string;
  /** SHA-256 (lower-case hex) of what will be replaced; null: there is nothing. */
  readonly before: string | null;
  /** The same of what will be there. */
  readonly after: string | null;
  /** Permission bits of what will be replaced. */
  readonly beforeMode?: number;
  /** Those that the change sets; left out: a file that is there keeps its own, without set-user-ID and set-group-ID. */
  readonly afterMode?: number;
  /** The owner of what will be replaced; left out where that is this process and no set-user-ID or set-group-ID bit is set. */
  readonly beforeOwner?: FileOwner;
  /** Canonical, of the same intent: this file is what that one was. The two are one move: undo takes back both or neither. */
  readonly movedFrom?: string;
  /** What will be replaced is no regular file: a link (then `before` is of its text), or something stranger. */
  readonly beforeKind?: 'link' | 'other';
  /** What will be replaced; left out where it is no file, or larger than `MAX_KEPT_CONTENT_BYTES`. */
  readonly content?: Uint8Array;
}

export interface ChangeOptions {
  /**
   * Told what will be replaced, and waited for, before anything is; what it throws ends the change. Where a file
   * changes meanwhile, it is told again.
   */
  readonly intend?: (intent: FileIntent) => Awaitable<void>;
  /**
   * Called before every attempt (another process may be changing the files), and once more before anything is replaced:
   * until then nothing has changed. What it throws ends the change.
   */
  readonly check?: () => void;
}

export type WriteAllOptions = ChangeOptions;

/** A file as it was, to be put back; `path` is canonical. */
export interface RestoredFile extends Pick<FileChange, 'path' | 'bytes'> {
  /** SHA-256 (lower-case hex) of what is there now; null: nothing is. */
  readonly expectedSha256: string | null;
  /** All permission bits, set-user-ID included. Left out: those of what it replaces, or of `movedFrom`. */
  readonly mode?: number;
  /** `mode` is set only where the file (or, where there is none, `movedFrom`) has these bits now: else it keeps its own. */
  readonly expectedMode?: number;
  /** Left out: that of what it replaces, or of `movedFrom`. Bits that lend rights are set only where the file gets this owner. */
  readonly owner?: FileOwner;
  /** Another of the files that are put back: the two are one move. */
  readonly movedFrom?: string;
}

export interface RestoreOptions extends ChangeOptions {
  /** Directories that are made before the files; those that exist stay as they are. */
  readonly make?: readonly DirectoryMode[];
  /** Canonical directories that go once all is done, as far as they are empty then. */
  readonly tidy?: readonly string[];
}

/** What lies at a canonical path now. `elsewhere`: a part of the path has become a link, or is no directory. */
export type ExaminedEntry =
  | { readonly kind: 'none' | 'other' | 'elsewhere' }
  /** `sha256` is of the link's text. */
  | { readonly kind: 'link'; readonly sha256: string }
  | ExaminedFile
  | { readonly kind: 'dir'; readonly mode: number; readonly names: readonly string[] };

export interface ExaminedFile {
  readonly kind: 'file';
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
  readonly mode: number;
  /** Whether its permission bits let this process write it. */
  readonly writable: boolean;
}

/**
 * Files inside the roots. Every operation is checked and carried out on open descriptors, and fails with
 * `ToolError` `sandbox_violation` when the path leaves the roots or a deny pattern matches, and with
 * `execution_failed` (`details.errno`) when the file system says no.
 */
export interface ContainedFiles {
  /**
   * The canonical path that the operations below use for `path` (D047): under it a tool remembers a file.
   * Left out where paths have one spelling only.
   */
  resolve?(path: string): string;
  /** A regular file's bytes. */
  read(path: string, options?: ReadOptions): Promise<Uint8Array>;
  /** What `read` gives, with the canonical path that it was read from. Left out: `resolve` says where that is. */
  readPlaced?(path: string, options?: ReadOptions): Promise<PlacedBytes>;
  /** Atomic: a crash leaves the old or the new file. Creates missing parents. Keeps an existing file's mode. */
  write(
    path: string,
    bytes: Uint8Array,
    options: ChangeOptions & { readonly mode: WriteMode },
  ): Promise<WriteOutcome>;
  /**
   * All of the changes, or none: each new content is complete on the disk before the first file is replaced, and what
   * was replaced is put back when a later one fails. Links in place of a file are followed for writing, and refused
   * where a file shall go. One outcome a change, in order.
   * @throws ToolError `stale_file` when a file is not what `expectedSha256` says. Of several processes that change a
   *   file at once one wins; the others get this.
   */
  writeAll(changes: readonly FileChange[], options?: WriteAllOptions): Promise<readonly WriteOutcome[]>;
  /** Names that the deny patterns match are left out; unsorted. */
  list(path: string): Promise<readonly DirectoryEntry[]>;
  /** Of the entry itself where the last part of the path is a link. */
  stat(path: string): Promise<FileStat>;
  /**
   * What `stat` says of several entries of a directory, in one go. Undefined where nothing can be said: `stat` says
   * why. Left out, or an answer that is shorter: the others are looked at one by one.
   * @param names single names, as `list` gives them.
   */
  statEntries?(directory: string, names: readonly string[]): Promise<readonly (FileStat | undefined)[]>;
  /** A file or a link, never what a link points to, never a directory. */
  remove(path: string, options?: ChangeOptions): Promise<void>;
  rename(from: string, to: string, options?: ChangeOptions): Promise<void>;
}

/** A directory or a regular file, open while a program of ours works in it. The caller that opened it closes it. */
export interface OpenEntry {
  readonly type: 'file' | 'dir';
  /** Canonical. */
  readonly path: string;
  /** The root that it lies in. */
  readonly root: string;
  /** Reaches this very directory as the working directory of a program that is started now, whatever is renamed. */
  readonly at: string;
  /** What stands before the command line of that program. Left out: nothing. */
  readonly under?: readonly string[];
  /** A descriptor to read an open file from. The caller closes it. */
  openForReading(): number;
  /** Says what deny patterns hide of a directory, which is named from an open one down (`a/b`, or empty). */
  deniedEntries(directory: string): (name: string) => boolean;
  /**
   * Looks at a regular file below an open directory, which no link may be on the way to. Undefined where there is
   * none (any more).
   * @param relative its bytes: names need not be text.
   */
  fileBelow<Value>(relative: Uint8Array, look: (file: OpenFile) => Value): Value | undefined;
  /**
   * Which of these regular files are in a directory below, which no link may be on the way to.
   * @param directory its bytes, and those of the names
   */
  filesIn(directory: Uint8Array, names: readonly Uint8Array[]): readonly boolean[];
  /** What `fileBelow` does, for a file of the root that does not lie below; `path` is canonical and absolute. */
  fileAt<Value>(path: string, look: (file: OpenFile) => Value): Value | undefined;
  close(): void;
}

export interface OpenFile {
  /** Bytes. */
  readonly size: number;
  readonly modifiedMs: number;
  /** A descriptor to read it from. The caller closes it. Throws the system's error where it may not be read. */
  openForReading(): number;
}

/** Keeps the file tools inside the roots (D045). */
export interface Sandbox {
  /** Canonical, absolute; the first is the working directory's default. */
  readonly roots: readonly string[];
  readonly cwd: string;
  /** Whether absolute paths (inside the roots) are accepted. */
  readonly allowAbsolute: boolean;
  /**
   * The canonical path of `path` (D046), also for one that does not exist yet. For `delete` that of the entry
   * itself: what is taken away is a link, not what it leads to.
   * @throws ToolError `sandbox_violation` with `details.reason` (`PathOutsideSandbox`, `DeniedPatternMatched`),
   *   `bad_args` when it is no path at all.
   */
  resolve(path: string, access?: 'read' | 'write' | 'delete'): string;
  /**
   * What changes whenever a regular file's content does: its place on the disk, size and times. Undefined for
   * everything that is no regular file. Left out: nothing can tell, and no read is answered from the cache.
   * @param path canonical, as `resolve` gives it.
   */
  fingerprint?(path: string): string | undefined;
  readonly files: ContainedFiles;
  /** The same for a caller that names every file by its canonical path, also where absolute paths are refused to others. */
  byCanonicalPath(): Sandbox;
  /**
   * What lies at a canonical path. No link is followed, neither at the end nor on the way.
   * @throws ToolError as `files` does, where `path` may not be written or cannot be read.
   */
  examine(path: string): ExaminedEntry;
  /**
   * Puts files back, all of them or none, for undo and recovery: `files.writeAll` that follows no link, sets every
   * permission bit and the owner, and makes and removes directories.
   * @throws ToolError `stale_file` when a file is not what `expectedSha256` says, or lies behind a link by now.
   */
  restore(files: readonly RestoredFile[], options?: RestoreOptions): Promise<void>;
  /**
   * Removes what dead processes have left in a directory: locks and temporary files, and of the process `pid` also what
   * it had put aside to put it back. What living ones have there stays. Where there is no such directory, there is
   * nothing to do.
   * @param kept SHA-256 (lower-case hex) of contents that are kept elsewhere: what was put aside of them goes too,
   *   whichever dead process did it.
   */
  sweep(directory: string, pid: number, kept?: ReadonlySet<string>): void;
  /** Globs for what may not be read, the built-in ones included. */
  readonly deniedPatterns: readonly string[];
  /** Opens what `path` leads to, checked like a read. @throws ToolError as `files` does. */
  hold(path: string): OpenEntry;
  /** The root that holds a canonical path; undefined: it lies outside. Left out: it cannot be told. */
  rootOf?(path: string): string | undefined;
  /**
   * The deny pattern that keeps a canonical path inside the roots from commands; undefined: none does. Left out: none ever.
   * `link`: the one that names something below, which a link in its place would lead elsewhere.
   */
  denied?(path: string, access: 'read' | 'write' | 'link'): string | undefined;
  /** What the deny patterns say of what is there now, for a command sandbox, which knows only paths. Left out: nothing is guarded. */
  guarded?(every?: 'every'): GuardedPaths;
}

/** What lies inside the roots, and is not for commands. Canonical paths of entries that exist and are no links. */
export interface GuardedPaths {
  /** Commands see something empty in their place. */
  readonly hidden: readonly GuardedPath[];
  /** Commands may read them. */
  readonly readOnly: readonly GuardedPath[];
  /** Directories that are not there, and that no command may make. */
  readonly missing: readonly string[];
  /** There was more than could be looked at: deeper down, nothing is guarded. */
  readonly incomplete: boolean;
  /** The directories that were looked into, as they were then. Left out: not recorded. */
  readonly directories?: readonly SeenDirectory[];
}

/** A directory as it was when it was looked into. */
export interface SeenDirectory {
  /** Canonical. */
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
  /** Permission bits. */
  readonly mode: number;
  /** Whether it had an entry of this name, of whatever kind. */
  has(name: string): boolean;
}

export interface GuardedPath {
  readonly path: string;
  readonly type: 'file' | 'dir';
}
