import type { Dirent } from 'node:fs';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isInDependencies } from '../../files/dependency-folders.js';
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
export async function laterNames(
  paths: readonly string[],
  roots: readonly string[],
  later: LaterCode,
): Promise<NamesOf> {
  const search = new Search(roots, later);
  for (const path of paths) await search.lookAbove(path);
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

  async lookAbove(path: string): Promise<void> {
    const directory = dirname(path);
    if (this.#passed.has(directory) || !this.#isInside(directory)) return;
    this.#passed.add(directory);
    if (!isInDependencies(this.#roots, directory)) await this.#lookIn(directory, 0);
    await this.lookAbove(directory);
  }

  async #lookIn(directory: string, depth: number): Promise<void> {
    if (this.#seen.has(directory)) return;
    this.#seen.add(directory);
    for (const entry of await entriesOf(directory)) {
      const name = join(directory, entry.name);
      const isLink = entry.isSymbolicLink();
      if (!(isLink || entry.isDirectory()) || !this.#later.lies(name, this.#roots)) continue;
      if (isLink) this.#add(await realpath(name).catch(() => undefined), name);
      else if (depth < DEEPEST) await this.#lookIn(name, depth + 1);
      if (entry.name === '.git' && entry.isDirectory()) await this.#addHooksOf(directory);
    }
  }

  /** The setting is relative to the working tree. Files that the configuration includes are not read. */
  async #addHooksOf(tree: string): Promise<void> {
    const config = await readFile(join(tree, '.git', 'config'), 'utf8').catch(() => '');
    const [, quoted, plain] = /^\s*hookspath\s*=\s*(?:"([^"\n]*)"|([^\s#;]+))/im.exec(config) ?? [];
    const path = quoted ?? plain;
    if (path === undefined) return;
    this.#add(await realpath(resolve(tree, path)).catch(() => undefined), join(tree, '.git', 'hooks'));
  }

  #add(target: string | undefined, name: string): void {
    if (target !== undefined && target !== name && this.#isInside(target)) this.found.push({ target, name });
  }

  #isInside(path: string): boolean {
    return this.#roots.some((root) => path === root || path.startsWith(root === '/' ? root : `${root}/`));
  }
}

/** A directory that the command made, or that may not be read, holds no existing link. */
async function entriesOf(directory: string): Promise<readonly Dirent[]> {
  return await readdir(directory, { withFileTypes: true }).catch(() => []);
}
