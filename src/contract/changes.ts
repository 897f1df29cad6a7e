/** The changes that a command made or would make. At most 200 paths in each list. */
export interface CommandChanges {
  /**
   * Relative to the first root, absolute for other roots; a directory ends with `/`. Paths are never
   * shortened: an invisible character is written as `\u{200B}`, a byte that is not UTF-8 as `\xNN`.
   */
  readonly created: readonly string[];
  readonly modified: readonly string[];
  readonly deleted: readonly string[];
  /** Paths that stayed unchanged because commands may not change them. */
  readonly refused: readonly UnkeptChange[];
  /** Paths that stayed unchanged because another program changed them while the command ran. */
  readonly conflicts: readonly UnkeptChange[];
  /** The changes that go beyond the call's declaration and permission. Absent if there are none. */
  readonly unexpected?: readonly string[];
  /** The number of paths that did not fit into the lists. */
  readonly more?: number;
}

export interface UnkeptChange {
  readonly path: string;
  readonly reason: string;
  /** The command's version of the file, for `read_file`. */
  readonly ref?: string;
  /** The change is not committed yet. It will be before the next command, if that is possible then. */
  readonly later?: true;
}

/** The file, directory or link at a path. */
export interface EntryState {
  readonly kind: 'file' | 'dir' | 'link' | 'special';
  /** In octal, as `chmod` takes it: `644`. Absent for a link. */
  readonly mode?: string;
  /** The size of a file in bytes. */
  readonly size?: number;
  /** The target of a link, escaped like a path. */
  readonly target?: string;
}

/** One changed path, before and after. An absent side means that nothing exists there. */
export interface ChangedEntry {
  /** In the notation of `CommandChanges`. */
  readonly path: string;
  readonly change: 'create' | 'modify' | 'delete';
  readonly before?: EntryState;
  readonly after?: EntryState;
  /** For a modified file: its bytes stay the same. */
  readonly isSameContent?: true;
  /** Why the content is not shown. */
  readonly unshown?: string;
  /** Why the change goes beyond the call's declaration and permission. Absent for an expected change. */
  readonly unexpected?: Unexpected;
}

/** The content of a changed file. An absent side means that no file exists there. */
export interface ChangedContent {
  readonly before?: Uint8Array;
  readonly after?: Uint8Array;
}

/** Changes that are not committed yet. */
export interface PreviewedChanges {
  readonly changes: CommandChanges;
  /** All changed paths, sorted. `content` is present for the files that are shown to the person. */
  readonly entries: readonly (ChangedEntry & { readonly content?: ChangedContent })[];
  /** All paths that the commit will not change, with the reason. */
  readonly notKept: readonly Pick<UnkeptChange, 'path' | 'reason'>[];
}

/**
 * Why a change was not expected: the path runs later by itself, a removal was not asked about before, or the
 * rule that allows the call does not name the path.
 */
export type Unexpected = 'runs_later' | 'removed' | 'not_allowed';

/** One path that a command changed, before the commit. */
export interface MadeChange {
  /** An absolute path. */
  readonly path: string;
  readonly kind: 'file' | 'link' | 'dir';
  readonly change: 'create' | 'modify' | 'delete';
  /** A file of git that cannot run anything, as checked before. */
  readonly isHarmless: boolean;
  /** The content of the existing file and of the new file; undefined if there is none. */
  before(): Uint8Array | undefined;
  after(): Uint8Array | undefined;
  /** The unresolved target of the new link; undefined for anything but a link. */
  linkText(): string | undefined;
}

/** Compares a command's changes with the call's declaration and permission. */
export interface DeedsReview {
  /** @returns the changes that go beyond it, each with the reason */
  readonly unexpected: (changes: readonly MadeChange[]) => Promise<ReadonlyMap<MadeChange, Unexpected>>;
  /** The person approved a git command that restores committed versions, so those versions are expected. */
  readonly expectsCommitted: boolean;
  /**
   * Asks about the unexpected changes and shows all changes. @returns why the commit is refused, or the
   * only paths to commit; undefined: all of them
   */
  readonly ask: (changes: PreviewedChanges) => Promise<DeedsRefusal | ChosenPaths | undefined>;
}

/** Only these changes of a command are committed, by the paths in `PreviewedChanges`. */
export interface ChosenPaths {
  readonly only: readonly string[];
}

export interface DeedsRefusal {
  readonly why: string;
  /** The person refused; the person could not be asked; or the policy refuses without a person. */
  readonly by: 'person' | 'unasked' | 'policy';
}
