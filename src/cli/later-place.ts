import { dirname, resolve } from 'node:path';
import type { Sandbox } from '../contract/files.js';
import type { NamesOf } from '../executor/plan/later-names.js';
import { isInDependencies } from '../files/dependency-folders.js';
import { realPlace } from '../platform/fs/probe-place.js';
import { LATER_CODE_PATTERNS, LaterCode } from '../policy/later-code/later-code.js';

/** The roots and the configured table of later code. */
export interface ConfiguredPlace {
  readonly root?: readonly string[];
  readonly policy?: { readonly laterCode?: readonly string[] };
}

/**
 * Decides which paths in the roots run later by themselves. The built-in table does not cover dependency
 * folders; a custom one does.
 */
export class LaterPlace {
  /** Absolute and canonical. */
  readonly roots: readonly string[];
  readonly #later: LaterCode;
  readonly #sparesDependencies: boolean;
  #sandbox: Sandbox | undefined;

  constructor({ root = ['.'], policy }: ConfiguredPlace) {
    const own = policy?.laterCode;
    this.roots = root.map((path) => realPlace(resolve(path)));
    this.#later = new LaterCode(own);
    this.#sparesDependencies = own === undefined || own === LATER_CODE_PATTERNS;
  }

  /** Resolves a path against the directory of calls. */
  at(path: string): string {
    return resolve(this.roots[0] ?? '.', path);
  }

  /** @param path absolute */
  has(path: string): boolean {
    return !this.passesOver(path) && this.#later.has(path, this.roots);
  }

  /** Such a file, or a directory that contains such files. */
  lies(path: string): boolean {
    return !this.passesOver(path) && this.#later.lies(path, this.roots);
  }

  /**
   * Finds the names under which a canonical path runs later through existing links in the roots, and through settings
   * of git.
   */
  async otherNames(): Promise<NamesOf> {
    const [{ createSandbox }, { laterNames }, { namesInRepository }] = await Promise.all([
      import('../files/create-sandbox.js'),
      import('../executor/plan/later-names.js'),
      import('../commands/sandbox/git/bare-repository.js'),
    ]);
    this.#sandbox ??= createSandbox({ roots: this.roots });
    const namesOf = laterNames(this.#sandbox.leading?.() ?? [], this.roots, this.#later);
    return (path) => [...namesOf(path), ...namesInRepository(path)].filter((name) => this.lies(name));
  }

  /** It lies in a dependency folder, which is not examined. */
  passesOver(path: string): boolean {
    return this.#sparesDependencies && isInDependencies(this.roots, dirname(path));
  }
}
