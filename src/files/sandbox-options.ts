import type { OptionsIn } from '../contract/settings.js';

/**
 * What to do with a regular file that has several names: some may lie outside the roots, and the file system
 * does not say where. `refuse`: it is neither read nor changed (it can be listed, and its name removed).
 */
export type HardLinks = NonNullable<OptionsIn<'executor.sandbox'>['hardLinks']>;

export function isHardLinks(value: unknown): value is HardLinks {
  return value === 'allow' || value === 'refuse';
}

/** A root with its own rules. */
export interface SandboxRoot {
  readonly path: string;
  /** Default: the sandbox's `hardLinks`. */
  readonly hardLinks?: HardLinks;
}

/** The options of a sandbox (D045). */
export interface SandboxOptions {
  /**
   * Existing directories; relative ones start at the process's working directory. The first is the default
   * `cwd`.
   */
  readonly roots: readonly (string | SandboxRoot)[];
  /** For roots without their own rule. Default `allow`, because package managers link files. */
  readonly hardLinks?: HardLinks;
  /** The start of relative paths; inside a root. */
  readonly cwd?: string;
  /** Globs, ignoring case, of paths that may be neither read nor written; added to the defaults. */
  readonly deniedPatterns?: readonly string[];
  /** Globs of paths that may be read but not changed; added to the defaults. */
  readonly deniedWritePatterns?: readonly string[];
  /** Default false: only relative paths. Absolute paths must always lie inside a root. */
  readonly allowAbsolute?: boolean;
  /** Default true (D048). */
  readonly includeDefaultDenies?: boolean;
}
