/** What a command has changed, or would have. At most 200 paths in each list. */
export interface CommandChanges {
  /**
   * Relative to the first root, else absolute; directories with `/` at the end. Never shortened: a character that cannot
   * be seen stands as `\u{200B}`, a byte that is no UTF-8 as `\xNN`.
   */
  readonly created: readonly string[];
  readonly modified: readonly string[];
  readonly deleted: readonly string[];
  /** What stays as it was: commands may not change it. */
  readonly refused: readonly UnkeptChange[];
  /** What stays as it is: it was changed by others while the command ran. */
  readonly conflicts: readonly UnkeptChange[];
  /** Those of the changes that go beyond what the call declared and was allowed. Left out: none does. */
  readonly unexpected?: readonly string[];
  /** How many paths are in none of the lists, because those are full. */
  readonly more?: number;
}

export interface UnkeptChange {
  readonly path: string;
  readonly reason: string;
  /** The command's version, for `read_file`. */
  readonly ref?: string;
  /** It is not made yet, and will be before the next command, if that is possible then. */
  readonly later?: true;
}

/** What is at a path. */
export interface EntryState {
  readonly kind: 'file' | 'dir' | 'link' | 'special';
  /** In octal, as `chmod` takes it: `644`. A link has none. */
  readonly mode?: string;
  /** Of a file: bytes. */
  readonly size?: number;
  /** Of a link: where it leads, in the characters of names. */
  readonly target?: string;
}

/** One path that changes, and what is there before and after; left out: nothing. */
export interface ChangedEntry {
  /** As `CommandChanges` names it. */
  readonly path: string;
  readonly change: 'create' | 'modify' | 'delete';
  readonly before?: EntryState;
  readonly after?: EntryState;
  /** Of a file that is modified: its bytes stay as they are. */
  readonly isSameContent?: true;
  /** Why the content of a file is not shown. */
  readonly unshown?: string;
  /** Why it goes beyond what the call declared and was allowed. Left out: it does not. */
  readonly unexpected?: Unexpected;
}

/** The content of a file that changes; left out: there is no file. */
export interface ChangedContent {
  readonly before?: Uint8Array;
  readonly after?: Uint8Array;
}

/** Changes that are not committed yet. */
export interface PreviewedChanges {
  readonly changes: CommandChanges;
  /** Every path that changes, sorted. `content` is given for as many files as a person is shown. */
  readonly entries: readonly (ChangedEntry & { readonly content?: ChangedContent })[];
  /** Every path that the commit leaves as it is, and why. */
  readonly notKept: readonly Pick<UnkeptChange, 'path' | 'reason'>[];
}

/** It runs later by itself, was removed where nothing was asked before, or is not named by the rule that allows the call. */
export type Unexpected = 'runs_later' | 'removed' | 'not_allowed';

/** One path that a command has changed, before the change is committed. */
export interface MadeChange {
  /** Absolute. */
  readonly path: string;
  readonly kind: 'file' | 'link' | 'dir';
  readonly change: 'create' | 'modify' | 'delete';
  /** A file of git in which nothing runs: that was looked at already. */
  readonly isHarmless: boolean;
  /** The content of the file that is there, and of the one that would come; undefined: there is none. */
  readonly before: () => Uint8Array | undefined;
  readonly after: () => Uint8Array | undefined;
}

/** Holds what a command has changed against what its call declared and was allowed. */
export interface DeedsReview {
  /** @returns those of the changes that go beyond it, and why */
  readonly unexpected: (changes: readonly MadeChange[]) => Promise<ReadonlyMap<MadeChange, Unexpected>>;
  /** A person has agreed to a command by which git puts committed versions in place: those are expected. */
  readonly expectsCommitted: boolean;
  /** Asks about them, with all that was changed. @returns why nothing is committed; undefined: it is */
  readonly ask: (changes: PreviewedChanges) => Promise<DeedsRefusal | undefined>;
}

export interface DeedsRefusal {
  readonly why: string;
  /** The person did not agree; could not be asked; or the policy does not allow it where there is no person to ask. */
  readonly by: 'person' | 'unasked' | 'policy';
}
