import type { Awaitable } from './call.js';

/** How `write` treats an existing file (F006). */
export type WriteMode = 'create' | 'overwrite' | 'append';

export interface FileStat {
  readonly type: 'file' | 'dir' | 'symlink' | 'other';
  /** In bytes. */
  readonly size: number;
  readonly modifiedMs: number;
}

export interface DirectoryEntry {
  readonly name: string;
  /** `unknown`: the entry could not be examined. */
  readonly type: 'file' | 'dir' | 'symlink' | 'other' | 'unknown';
}

export interface ReadOptions {
  /** The first byte; default 0. */
  readonly offset?: number;
  /** The maximum number of bytes; default: to the end of the file. */
  readonly length?: number;
}

export interface PlacedBytes {
  /** The canonical path. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface WriteOutcome {
  /** The canonical path that was written. */
  readonly path: string;
  readonly created: boolean;
  readonly bytesWritten: number;
}

/** One change in a set of file changes. */
export interface FileChange {
  readonly path: string;
  /** The whole new content; null removes the file. */
  readonly bytes: Uint8Array | null;
  /**
   * SHA-256 (lower-case hex) of the content that the change is based on; null if there must be no file. Left
   * out: any content is replaced.
   */
  readonly expectedSha256?: string | null;
  /** A new file gets the mode and owner of this existing file. If absent: the usual ones. */
  readonly like?: string;
  /** Permission bits of the file. Default: those of the replaced file, or of `like`. */
  readonly mode?: number;
}

/** A prepared change: everything is ready, and nothing is replaced yet. */
export interface FileIntent {
  readonly op: 'write' | 'writeAll' | 'remove' | 'rename';
  readonly changes: readonly IntendedChange[];
  /** The directories that are created for it, canonical, outermost first. Absent if there are none. */
  readonly made?: readonly string[];
  /** The empty directories that it removes. Absent if there are none. */
  readonly removed?: readonly DirectoryMode[];
}

/** A directory with its permission bits. `path` is canonical. */
export interface DirectoryMode {
  readonly path: string;
  readonly mode: number;
}

/** The user id and group id that own a file. */
export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Larger contents are not kept for undo: that would take as much memory, and as much disk again. */
export const MAX_KEPT_CONTENT_BYTES = 16 * 1024 * 1024;

export interface IntendedChange {
  /** The canonical path. */
  readonly path: string;
  /** SHA-256 (lower-case hex) of the current content; null if there is no file. */
  readonly before: string | null;
  /** SHA-256 of the new content; null if the file is removed. */
  readonly after: string | null;
  /** Permission bits of the current file. */
  readonly beforeMode?: number;
  /**
   * Permission bits that the change sets. If absent: the file keeps its bits, without set-user-ID and
   * set-group-ID.
   */
  readonly afterMode?: number;
  /**
   * Owner of the current file. Absent if this process owns it and no set-user-ID or set-group-ID bit is
   * set.
   */
  readonly beforeOwner?: FileOwner;
  /** The canonical old path of a moved file, from the same intent. Undo restores both paths or neither. */
  readonly movedFrom?: string;
  /**
   * The current entry is not a regular file: a link (then `before` is the hash of its target text), or
   * another kind.
   */
  readonly beforeKind?: 'link' | 'other';
  /** The current content. Absent if the entry is not a file, or is larger than `MAX_KEPT_CONTENT_BYTES`. */
  readonly content?: Uint8Array;
}

export interface ChangeOptions {
  /**
   * Called and awaited before anything is replaced. If it throws, the change ends. It is called again if a
   * file changes meanwhile.
   */
  readonly intend?: (intent: FileIntent) => Awaitable<void>;
  /**
   * Called before every attempt, because another process may change the files, and once more before anything
   * is replaced. If it throws, the change ends and nothing has changed.
   */
  readonly check?: () => void;
}

export type WriteAllOptions = ChangeOptions;

/** The earlier state of a file, to restore; `path` is canonical. */
export interface RestoredFile extends Pick<FileChange, 'path' | 'bytes'> {
  /** SHA-256 (lower-case hex) of the current content; null if there is no file. */
  readonly expectedSha256: string | null;
  /** All permission bits, including set-user-ID. Default: those of the replaced file, or of `movedFrom`. */
  readonly mode?: number;
  /**
   * Set `mode` only if the file (or `movedFrom`, if there is no file) has these bits now. Otherwise it keeps
   * its bits.
   */
  readonly expectedMode?: number;
  /**
   * Default: the owner of the replaced file, or of `movedFrom`. Set-user-ID and set-group-ID are set only if
   * the file gets this owner.
   */
  readonly owner?: FileOwner;
  /** The path of another restored file: the two form one move. */
  readonly movedFrom?: string;
}

export interface RestoreOptions extends ChangeOptions {
  /** Directories to create before the files. Existing directories are not changed. */
  readonly make?: readonly DirectoryMode[];
  /** Canonical directories to remove at the end, if they are empty then. */
  readonly tidy?: readonly string[];
}

/**
 * The current entry at a canonical path. `elsewhere`: a part of the path has become a link, or is not a
 * directory.
 */
export type ExaminedEntry =
  | { readonly kind: 'none' | 'other' | 'elsewhere' }
  /** `sha256` is the hash of the link's target text. */
  | { readonly kind: 'link'; readonly sha256: string }
  | ExaminedFile
  | { readonly kind: 'dir'; readonly mode: number; readonly names: readonly string[] };

export interface ExaminedFile {
  readonly kind: 'file';
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  readonly mode: number;
  /** Whether the permission bits allow this process to write it. */
  readonly writable: boolean;
}

/**
 * File access inside the roots. Every operation is checked and runs on open descriptors. It fails with
 * `ToolError` `sandbox_violation` if the path leaves the roots or matches a deny pattern, and with
 * `execution_failed` (`details.errno`) if the file system refuses.
 */
export interface ContainedFiles {
  /**
   * The canonical path that the operations use for `path` (D047). A tool remembers a file under it. Absent
   * if every path has only one spelling.
   */
  resolve?(path: string): string;
  /** Reads a regular file. */
  read(path: string, options?: ReadOptions): Promise<Uint8Array>;
  /** Like `read`, with the canonical path that was read. If absent: use `resolve` for the path. */
  readPlaced?(path: string, options?: ReadOptions): Promise<PlacedBytes>;
  /**
   * Writes atomically: a crash leaves the old or the new file. Creates missing parent directories. Keeps an
   * existing file's mode.
   */
  write(
    path: string,
    bytes: Uint8Array,
    options: ChangeOptions & { readonly mode: WriteMode },
  ): Promise<WriteOutcome>;
  /**
   * Makes all changes or none: every new content is complete on disk before the first file is replaced, and
   * replaced files are restored if a later one fails. A link is followed for writing and refused for removal.
   * One outcome per change, in order.
   * @throws ToolError `stale_file` if a file does not match `expectedSha256`. If several processes change a
   * file at once, one succeeds and the others get this error.
   */
  writeAll(changes: readonly FileChange[], options?: WriteAllOptions): Promise<readonly WriteOutcome[]>;
  /** Names in a directory, unsorted. Names that match a deny pattern are left out. */
  list(path: string): Promise<readonly DirectoryEntry[]>;
  /** Facts about an entry. A link at the end of the path is not followed. */
  stat(path: string): Promise<FileStat>;
  /**
   * `stat` for several entries of a directory at once. An undefined entry means that `stat` gives the reason.
   * If this is left out, or the answer is shorter, the others are read one by one.
   * @param names single names, as `list` gives them.
   */
  statEntries?(directory: string, names: readonly string[]): Promise<readonly (FileStat | undefined)[]>;
  /** Removes a file or a link, never a link's target and never a directory. */
  remove(path: string, options?: ChangeOptions): Promise<void>;
  rename(from: string, to: string, options?: ChangeOptions): Promise<void>;
}

/** An open directory or regular file for one of our own programs. The caller closes it. */
export interface OpenEntry {
  readonly type: 'file' | 'dir';
  /** The canonical path. */
  readonly path: string;
  /** The root that contains it. */
  readonly root: string;
  /** A path to exactly this directory for a program that starts now, even if it is renamed. */
  readonly at: string;
  /** Arguments before the program's command line. If absent: none. */
  readonly under?: readonly string[];
  /** Opens a descriptor to read the file. The caller closes it. */
  openForReading(): number;
  /**
   * Returns a test for the names in `directory` that deny patterns hide. `directory` is relative to the open
   * one (`a/b`, or empty).
   */
  deniedEntries(directory: string): (name: string) => boolean;
  /**
   * Calls `look` for a regular file below the open directory. No link may be on the way. Undefined if the
   * file does not exist.
   * @param relative as bytes, because names need not be text.
   */
  fileBelow<Value>(relative: Uint8Array, look: (file: OpenFile) => Value): Value | undefined;
  /**
   * Which of these names are regular files in a directory below the open one. No link may be on the way.
   * @param directory as bytes, like the names
   */
  filesIn(directory: Uint8Array, names: readonly Uint8Array[]): readonly boolean[];
  /** Like `fileBelow`, for a file elsewhere in the root; `path` is canonical and absolute. */
  fileAt<Value>(path: string, look: (file: OpenFile) => Value): Value | undefined;
  close(): void;
}

export interface OpenFile {
  /** In bytes. */
  readonly size: number;
  readonly modifiedMs: number;
  /**
   * Opens a descriptor to read the file. The caller closes it. Throws the system's error if the file cannot
   * be read.
   */
  openForReading(): number;
}

/** Keeps file tools inside the roots (D045). */
export interface Sandbox {
  /** Canonical and absolute. The first is the default working directory. */
  readonly roots: readonly string[];
  readonly cwd: string;
  /** Whether absolute paths inside the roots are accepted. */
  readonly allowAbsolute: boolean;
  /**
   * The canonical path of `path` (D046), even if it does not exist yet. For `delete`, the path of the entry
   * itself: a link is removed, not its target.
   * @throws ToolError `sandbox_violation` with `details.reason` (`PathOutsideSandbox`,
   * `DeniedPatternMatched`), `bad_args` if it is not a path.
   */
  resolve(path: string, access?: 'read' | 'write' | 'delete'): string;
  /**
   * A text that changes with a regular file's content: its place on disk, size and times. Undefined for
   * anything but a regular file. If this is left out, no read is answered from the cache.
   * @param path canonical, as `resolve` gives it.
   */
  fingerprint?(path: string): string | undefined;
  readonly files: ContainedFiles;
  /**
   * The same sandbox for a caller that names every file by its canonical path, even if absolute paths are
   * refused to others.
   */
  byCanonicalPath(): Sandbox;
  /**
   * Examines a canonical path. Follows no link, neither at the end nor on the way.
   * @throws ToolError as `files` does, if `path` may not be written or cannot be read.
   */
  examine(path: string): ExaminedEntry;
  /**
   * Restores files, all or none, for undo and recovery: like `files.writeAll`, but it follows no link, sets
   * every permission bit and the owner, and creates and removes directories.
   * @throws ToolError `stale_file` if a file does not match `expectedSha256`, or now lies behind a link.
   */
  restore(files: readonly RestoredFile[], options?: RestoreOptions): Promise<void>;
  /**
   * Removes leftovers of dead processes in a directory: locks and temporary files, and the set-aside files of
   * process `pid`. Leftovers of living processes stay. Does nothing if the directory does not exist.
   * @param kept SHA-256 (lower-case hex) of contents that are kept elsewhere: set-aside files with such
   * content are removed, whichever dead process made them.
   */
  sweep(directory: string, pid: number, kept?: ReadonlySet<string>): void;
  /** Globs of paths that may not be read, including the built-in ones. */
  readonly deniedPatterns: readonly string[];
  /** Opens the entry at `path`, with the checks of a read. @throws ToolError as `files` does. */
  hold(path: string): OpenEntry;
  /** The root that contains a canonical path; undefined if none does. Absent if the roots are not known. */
  rootOf?(path: string): string | undefined;
  /**
   * The deny pattern that forbids commands this canonical path; undefined if none does. If absent: no path is
   * denied. `link`: a pattern that names a path below, which a link in this place would redirect.
   */
  denied?(path: string, access: 'read' | 'write' | 'link'): string | undefined;
  /**
   * The existing paths that match deny patterns, for a command sandbox, which knows only paths. If absent:
   * none.
   * @param read what `readAhead` has just resolved to: the directories are not looked at again
   */
  guarded?(every?: 'every', read?: RootsRead): GuardedPaths;
  /**
   * The entries that may lead elsewhere: links, each `.git`, and directories that commands may only read, which are
   * not searched. Sockets and the like are among them. If absent: not looked for.
   * @param above only in the roots and the directories that contain this canonical path. If absent: in the whole tree
   * @param read as for `guarded`, for the whole tree
   */
  leading?(above?: string, read?: RootsRead): readonly string[];
  /**
   * Reads the directories that `guarded` and `leading` need, while other work continues. If absent: nothing to read.
   * @returns the result, if all of it was read after this call; otherwise undefined
   */
  readAhead?(): Promise<RootsRead | undefined>;
}

/** The result of one reading of the roots. It is out of date as soon as other work of the caller continues. */
export interface RootsRead {
  readonly incomplete: boolean;
}

/**
 * Paths inside the roots that commands may not use. All are canonical paths of existing entries that are not
 * links.
 */
export interface GuardedPaths {
  /** Commands see an empty entry in their place. */
  readonly hidden: readonly GuardedPath[];
  /** Commands may only read them. */
  readonly readOnly: readonly GuardedPath[];
  /** Missing directories that no command may create. */
  readonly missing: readonly string[];
  /** There were too many entries to examine. Deeper paths are not protected. */
  readonly incomplete: boolean;
  /** The directories that were read, as they were then. If absent: not recorded. */
  readonly directories?: readonly SeenDirectory[];
}

/** A directory as it was when it was read. */
export interface SeenDirectory {
  /** The canonical path. */
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
  /** The permission bits. */
  readonly mode: number;
  /** Whether the directory contained an entry with this name, of any kind. */
  has(name: string): boolean;
}

export interface GuardedPath {
  readonly path: string;
  readonly type: 'file' | 'dir';
}
