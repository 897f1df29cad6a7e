import { dirname, join, resolve } from 'node:path';
import type { DirectoryEntry } from '../../contract/files.js';
import { isInDependencies } from '../../files/dependency-folders.js';
import { directoryEntries, realPath } from '../../platform/fs/fs-entry.js';
import { readTextFile } from '../../platform/fs/read-file.js';
import type { LaterCode } from '../../policy/later-code/later-code.js';

/** Finds the names under which a file runs later by itself, if they differ from its path. */
export type NamesOf = (path: string) => string[];

/**
 * With an existing link `.husky -> tools/hooks`, or the setting `core.hooksPath = tools/hooks`, a change of
 * `tools/hooks/pre-commit` is a change of a hook. Such links and settings are looked for in every directory
 * above a changed path, and in directories there that hold code which runs later (`.git`, `.github`).
 *
 * @param paths absolute and canonical
 */
export function laterNames(paths: readonly string[], roots: readonly string[], later: LaterCode): NamesOf {
  const search = new Search(roots, later);
  for (const directory of new Set(paths.map((path) => dirname(path)))) search.lookUp(directory);
  const { found } = search;
  if (found.length === 0) return () => [];
  return (path) =>
    found.flatMap(({ target, name }) =>
      path === target || path.startsWith(`${target}/`) ? [name + path.slice(target.length)] : [],
    );
}

/** Hooks lie at most this deep in a directory of later code: `.git/modules/a/hooks`. */
const DEEPEST = 3;

class Search {
  readonly found: { readonly target: string; readonly name: string }[] = [];
  readonly #passed = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #roots: readonly string[];
  readonly #later: LaterCode;

  constructor(roots: readonly string[], later: LaterCode) {
    this.#roots = roots;
    this.#later = later;
  }

  /** Looks in a directory and those above it. */
  lookUp(directory: string): void {
    if (this.#passed.has(directory) || !this.#isInside(directory)) return;
    this.#passed.add(directory);
    if (!isInDependencies(this.#roots, directory)) this.#lookIn(directory, 0);
    this.lookUp(dirname(directory));
  }

  #lookIn(directory: string, depth: number): void {
    if (this.#seen.has(directory)) return;
    this.#seen.add(directory);
    for (const { name: last, type } of entriesOf(directory)) {
      const name = join(directory, last);
      if (!(type === 'symlink' || type === 'dir') || !this.#later.lies(name, this.#roots)) continue;
      if (type === 'symlink') this.#add(realPath(name), name);
      else if (depth < DEEPEST) this.#lookIn(name, depth + 1);
      if (type === 'dir' && last === '.git') this.#addHooksOf(directory);
    }
  }

  /** The setting is relative to the working tree. Files that the configuration includes are not read. */
  #addHooksOf(tree: string): void {
    const [, quoted, plain] = HOOKS_PATH.exec(textOf(join(tree, '.git', 'config'))) ?? [];
    const path = quoted ?? plain;
    if (path !== undefined) this.#add(realPath(resolve(tree, path)), join(tree, '.git', 'hooks'));
  }

  #add(target: string | undefined, name: string): void {
    if (target !== undefined && target !== name && this.#isInside(target)) this.found.push({ target, name });
  }

  #isInside(path: string): boolean {
    return this.#roots.some((root) => path === root || path.startsWith(root === '/' ? root : `${root}/`));
  }
}

const HOOKS_PATH = /^\s*hookspath\s*=\s*(?:"([^"\n]*)"|([^\s#;]+))/im;

/** A directory that the command made, or that may not be read, holds no existing link. */
function entriesOf(directory: string): readonly DirectoryEntry[] {
  try {
    return directoryEntries(directory);
  } catch {
    return [];
  }
}

const MOST_BYTES = 1024 * 1024;

function textOf(file: string): string {
  try {
    return readTextFile(file, MOST_BYTES);
  } catch {
    return '';
  }
}
