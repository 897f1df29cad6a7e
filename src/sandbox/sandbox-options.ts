/** FR-VAL-03 (D045). */
export interface SandboxOptions {
  /** Existing directories; relative ones are taken from the process's working directory. The first is the default `cwd`. */
  readonly roots: readonly string[];
  /** What relative paths start from; inside a root. */
  readonly cwd?: string;
  /** Globs, ignoring case, for what may be neither read nor written; added to the defaults. */
  readonly deniedPatterns?: readonly string[];
  /** Globs for what may be read and not changed; added to the defaults. */
  readonly deniedWritePatterns?: readonly string[];
  /** Default false: only relative paths. Absolute ones have to lie inside a root either way. */
  readonly allowAbsolute?: boolean;
  /** Default true (FR-VAL-05). */
  readonly includeDefaultDenies?: boolean;
}
