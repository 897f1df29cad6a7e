/** The place to search, and the entries to skip. Links are never followed. */
export interface SearchScope {
  /** Inside the roots. A directory, or for a text search also a file. */
  readonly path: string;
  /** Include names that begin with a dot. A pattern that starts with a dot always finds them. */
  readonly includeHidden: boolean;
  /** Include entries that `.gitignore`, `.ignore` and `.rgignore` files inside the root exclude. */
  readonly includeIgnored: boolean;
}

export interface FileSearch extends SearchScope {
  /** A glob over paths relative to `path`: `**`, `*`, `?`, classes, braces. `*` does not cross a `/`. */
  readonly pattern: string;
  readonly order: 'path' | 'newest';
  readonly maxResults: number;
}

export interface FilesFound {
  /**
   * Paths that tools accept: relative to the working directory if they lie below it, else absolute. In order.
   */
  readonly paths: readonly string[];
  /** The number of all matches, returned or not; if `stopped`, of those found so far. */
  readonly total: number;
  /** At least one directory could not be read. */
  readonly unreadable: boolean;
  /** The search was aborted before its end. */
  readonly stopped: boolean;
}

export interface TextSearch extends SearchScope {
  /** A regular expression of ripgrep: linear time, no look-around, no back-references. */
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** A match may span lines, and `.` matches a line break. */
  readonly multiline: boolean;
  /** Selects files by path; without a slash by name; with a leading `!` all others. */
  readonly glob?: string;
  /** A file type of ripgrep: `ts`, `py`. */
  readonly type?: string;
  readonly want: 'lines' | 'files' | 'counts';
  /** Context lines before a match. */
  readonly before: number;
  readonly after: number;
  /** The maximum number of lines, or of files in a search for files. */
  readonly maxResults: number;
  /** Maximum size of the text in bytes. The search ends soon after it. */
  readonly maxBytes: number;
}

export type SearchLine =
  | { readonly kind: 'match' | 'context'; readonly number: number; readonly text: string }
  /** Lines are left out here. */
  | { readonly kind: 'gap' };

export interface FileMatches {
  /** As in `FilesFound`. */
  readonly path: string;
  /** The number of matching lines, in a search for counts. */
  readonly count: number;
  /** The matching lines in file order, in a search for lines. A very long line is shortened and says so. */
  readonly lines: readonly SearchLine[];
  /** The file is binary: ripgrep reports that it matches, but no lines. */
  readonly binary: boolean;
}

export interface TextFound {
  /** Sorted by path. */
  readonly files: readonly FileMatches[];
  /** The number of matching files; if `stopped`, of those found so far. */
  readonly totalFiles: number;
  /** There are more results than returned. */
  readonly more: boolean;
  readonly unreadable: boolean;
  readonly stopped: boolean;
}

/**
 * Search inside the roots. Paths that match a deny pattern are neither opened nor named. Fails with
 * `ToolError` `sandbox_violation` like the file operations, `bad_args` for an invalid pattern (with the
 * explanation of ripgrep), and `execution_failed` if the path does not exist or no search program is available.
 */
export interface ToolSearch {
  files(request: FileSearch): Promise<FilesFound>;
  text(request: TextSearch): Promise<TextFound>;
}

/**
 * The search before it is narrowed to one call. Aborting ends the program at once and returns the results so
 * far.
 */
export interface ContainedSearch {
  files(request: FileSearch, signal: AbortSignal): Promise<FilesFound>;
  text(request: TextSearch, signal: AbortSignal): Promise<TextFound>;
}
