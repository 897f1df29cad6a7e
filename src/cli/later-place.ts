import { dirname, resolve } from 'node:path';
import { isInDependencies } from '../files/dependency-folders.js';
import { realPlace } from '../platform/fs/probe-place.js';
import { LATER_CODE_PATTERNS, LaterCode } from '../policy/later-code/later-code.js';

/** Where calls run, and what the configuration says of what runs later there. */
export interface ConfiguredPlace {
  readonly root?: readonly string[];
  readonly policy?: { readonly laterCode?: readonly string[] };
}

/** What runs later by itself in the roots. Of what lies in dependency folders the table speaks only where it is one's own. */
export class LaterPlace {
  /** Absolute and canonical. */
  readonly roots: readonly string[];
  readonly #later: LaterCode;
  readonly #sparesDependencies: boolean;

  constructor({ root = ['.'], policy }: ConfiguredPlace) {
    const own = policy?.laterCode;
    this.roots = root.map((path) => realPlace(resolve(path)));
    this.#later = new LaterCode(own);
    this.#sparesDependencies = own === undefined || own === LATER_CODE_PATTERNS;
  }

  /** A path from where calls start. */
  at(path: string): string {
    return resolve(this.roots[0] ?? '.', path);
  }

  /** @param path absolute */
  has(path: string): boolean {
    return !this.passesOver(path) && this.#later.has(path, this.roots);
  }

  /** Such a file, or a directory that such files are in. */
  lies(path: string): boolean {
    return !this.passesOver(path) && this.#later.lies(path, this.roots);
  }

  /** It lies in a dependency folder, and what does is not looked at. */
  passesOver(path: string): boolean {
    return this.#sparesDependencies && isInDependencies(this.roots, dirname(path));
  }
}
