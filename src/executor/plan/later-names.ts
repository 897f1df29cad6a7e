import { basename, dirname, join, relative, resolve } from 'node:path';
import { covers } from '../../base/covers.js';
import { namedBySettings } from '../../commands/sandbox/git/named-by-settings.js';
import type { LaterPaths } from '../../contract/policy.js';
import { isInDependencies } from '../../files/dependency-folders.js';
import { readableNames, toBinary, toText } from '../../platform/fs/binary-fs.js';
import { linkText } from '../../platform/fs/fs-entry.js';
import { realPlace } from '../../platform/fs/probe-place.js';

/**
 * Finds the names under which a file runs later by itself, if they differ from its path.
 * @param isLink the change puts a link there: a link above the file redirects it too
 */
export type NamesOf = (path: string, isLink?: boolean) => string[];

/**
 * With an existing link `.husky -> tools/hooks`, or the setting `core.hooksPath = tools/hooks`, a change of
 * `tools/hooks/pre-commit` is a change of a hook, even if `tools` does not exist yet. A link into a dependency folder
 * counts with any name: `sub -> node_modules/x` makes `node_modules/x/Makefile` one that runs.
 *
 * @param leading the entries that may lead elsewhere; absolute
 */
export function laterNames(leading: readonly string[], roots: readonly string[], later: LaterPaths): NamesOf {
  const search = new Search(roots, later);
  for (const path of leading) search.look(path);
  const { found } = search;
  if (found.length === 0) return () => [];
  return (path, isLink = false) =>
    found.flatMap(({ target, name }) => {
      if (covers(target, path)) return [name + path.slice(target.length)];
      return isLink && covers(path, target) ? [name] : [];
    });
}

/**
 * Whether a link outside the dependency folders leads into one: nothing in there counts by its own path.
 * @param text the target of the link as written
 */
export function leadsIntoDependencies(link: string, text: string, roots: readonly string[]): boolean {
  return !isInDependencies(roots, link) && isInDependencies(roots, resolve(dirname(link), text));
}

const MOST_LINKS = 40;
/** How deep to look into a directory that the search for links does not enter. */
const DEEPEST = 5;

class Search {
  readonly found: { readonly target: string; readonly name: string }[] = [];
  readonly #roots: readonly string[];
  readonly #later: LaterPaths;

  constructor(roots: readonly string[], later: LaterPaths) {
    this.#roots = roots;
    this.#later = later;
  }

  look(path: string): void {
    if (basename(path) === '.git') {
      for (const { target, name } of namedBySettings(path, this.#roots)) this.#follow(target, name);
    } else this.#lookAt(path, 0);
  }

  #lookAt(path: string, depth: number): void {
    const text = linkText(path);
    if (text === undefined) {
      if (depth === DEEPEST) return;
      for (const name of readableNames(toBinary(path))) this.#lookAt(join(path, toText(name)), depth + 1);
      return;
    }
    if (isInDependencies(this.#roots, path)) return;
    if (this.#later.lies(path, this.#roots) || leadsIntoDependencies(path, text, this.#roots))
      this.#follow(resolve(dirname(path), text), path);
  }

  /** Adds each link on the way, and the place to which they lead. */
  #follow(target: string, name: string, links = 0): void {
    const root = this.#rootOf(target);
    if (root === undefined) {
      const real = realPlace(target);
      if (real !== target && this.#rootOf(real) !== undefined) this.#add(real, name);
      return;
    }
    const parts = relative(root, target).split('/');
    let at = root;
    for (const [index, part] of parts.entries()) {
      at = join(at, part);
      const text = links < MOST_LINKS ? linkText(at) : undefined;
      if (text === undefined) continue;
      this.#add(at, name);
      this.#follow(resolve(dirname(at), text, ...parts.slice(index + 1)), name, links + 1);
      return;
    }
    this.#add(target, name);
  }

  #add(target: string, name: string): void {
    if (target !== name) this.found.push({ target, name });
  }

  #rootOf(path: string): string | undefined {
    return this.#roots.find((root) => path !== root && covers(root, path));
  }
}
