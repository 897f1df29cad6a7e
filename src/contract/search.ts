/** Where is searched, and what is left out on the way. Links are never followed. */
export interface SearchScope {
  /** Inside the roots; a directory, for text also a file. */
  readonly path: string;
  /** Names that begin with a dot. A pattern that spells out the dot finds them either way. */
  readonly includeHidden: boolean;
  /** What `.gitignore`, `.ignore` and `.rgignore` files inside the root leave out. */
  readonly includeIgnored: boolean;
}

export interface FileSearch extends SearchScope {
  /** A glob over paths relative to `path`: `**`, `*`, `?`, classes, braces. `*` stays within one directory. */
  readonly pattern: string;
  readonly order: 'path' | 'newest';
  readonly maxResults: number;
}

export interface FilesFound {
  /** As tools may name them again: from the working directory where they lie below it, else absolute. In order. */
  readonly paths: readonly string[];
  /** Of all that match, given or not; when `stopped`, of those met so far. */
  readonly total: number;
  /** Some directory could not be read. */
  readonly unreadable: boolean;
  /** It was aborted before its end. */
  readonly stopped: boolean;
}

export interface TextSearch extends SearchScope {
  /** A regular expression of ripgrep: linear time, no look-around, no back-references. */
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** A match may span lines, and `.` takes a line break. */
  readonly multiline: boolean;
  /** Files by path; without a slash by name alone; with a leading `!` all others. */
  readonly glob?: string;
  /** A file type that ripgrep knows: `ts`, `py`. */
  readonly type?: string;
  readonly want: 'lines' | 'files' | 'counts';
  /** Context of a matching line, in lines. */
  readonly before: number;
  readonly after: number;
  /** Lines, or files where these are wanted. */
  readonly maxResults: number;
  /** Of text; the search ends soon after it has found more. */
  readonly maxBytes: number;
}

export type SearchLine =
  | { readonly kind: 'match' | 'context'; readonly number: number; readonly text: string }
  /** Lines were passed over here. */
  | { readonly kind: 'gap' };

export interface FileMatches {
  /** As in `FilesFound`. */
  readonly path: string;
  /** Matching lines, where counts were wanted. */
  readonly count: number;
  /** In the file's order, where lines were wanted. A very long one is shortened, and says so. */
  readonly lines: readonly SearchLine[];
  /** It is no text: ripgrep says that something matches, and not what. */
  readonly binary: boolean;
}

export interface TextFound {
  /** By path. */
  readonly files: readonly FileMatches[];
  /** Of files that match; when `stopped`, of those met so far. */
  readonly totalFiles: number;
  /** There are more results than were given. */
  readonly more: boolean;
  readonly unreadable: boolean;
  readonly stopped: boolean;
}

/**
 * Searching inside the roots. What the deny patterns match is neither opened nor named. Fails with `ToolError`
 * `sandbox_violation` as the files do, `bad_args` for a pattern that is none (with the engine's explanation), and
 * `execution_failed` when the path does not exist or no search program can be had.
 */
export interface ToolSearch {
  files(request: FileSearch): Promise<FilesFound>;
  text(request: TextSearch): Promise<TextFound>;
}

/** The same, before it is narrowed to one call. Aborting ends the program at once, and gives what was found. */
export interface SearchEngine {
  files(request: FileSearch, signal: AbortSignal): Promise<FilesFound>;
  text(request: TextSearch, signal: AbortSignal): Promise<TextFound>;
}
