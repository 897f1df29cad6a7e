/**
 * What happens to a regular file that has further names: any of them may lie outside the roots, and the file system
 * does not tell. `refuse`: it is neither read nor changed (it can be listed, and its name removed).
 */
export type HardLinks = 'allow' | 'refuse';

export function isHardLinks(value: unknown): value is HardLinks {
  return value === 'allow' || value === 'refuse';
}

/** A root with rules of its own. */
export interface SandboxRoot {
  readonly path: string;
  /** Default: what the sandbox's own `hardLinks` says. */
  readonly hardLinks?: HardLinks;
}

/** What a sandbox is made of (D045). */
export interface SandboxOptions {
  /** Existing directories; relative ones are taken from the process's working directory. The first is the default `cwd`. */
  readonly roots: readonly (string | SandboxRoot)[];
  /** For roots that do not say; default `allow`: package managers link what they install. */
  readonly hardLinks?: HardLinks;
  /** What relative paths start from; inside a root. */
  readonly cwd?: string;
  /** Globs, ignoring case, for what may be neither read nor written; added to the defaults. */
  readonly deniedPatterns?: readonly string[];
  /** Globs for what may be read and not changed; added to the defaults. */
  readonly deniedWritePatterns?: readonly string[];
  /** Default false: only relative paths. Absolute ones have to lie inside a root either way. */
  readonly allowAbsolute?: boolean;
  /** Default true (D048). */
  readonly includeDefaultDenies?: boolean;
}
