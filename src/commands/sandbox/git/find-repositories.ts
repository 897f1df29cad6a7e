import { basename, dirname, resolve } from 'node:path';
import type { GuardedPath } from '../../../contract/files.js';
import { entryStat, realPath } from '../../../platform/fs/fs-entry.js';
import { readFileBytes } from '../../../platform/fs/read-file-bytes.js';
import { isWithin } from '../mount-holder.js';
import { parseGitConfig } from './parse-git-config.js';

/** A working tree inside the roots. All paths are canonical. */
export interface Repository {
  /** The top of its working tree. */
  readonly top: string;
  /** Where its index and its `HEAD` are. */
  readonly directory: string;
  /** Where its objects, branches, hooks and settings are: elsewhere for a tree that `git worktree` has made. */
  readonly common: string;
  /** It lies outside of the roots, and knows of this working tree: no command has said so. */
  readonly isOutside: boolean;
}

/**
 * The repositories of what is guarded as `.git`: directories, and files that name one. One that lies outside is taken
 * for what it is only where it names the working tree in turn, and that is a root: a file that says `gitdir:` can be
 * written by any program.
 */
export function findRepositories(
  guarded: readonly GuardedPath[],
  roots: readonly string[],
): readonly Repository[] {
  return guarded
    .filter(({ path }) => basename(path) === '.git')
    .flatMap(({ path, type }) => (type === 'dir' ? [plain(path)] : pointed(path, roots)));
}

function plain(path: string): Repository {
  return { top: dirname(path), directory: path, common: path, isOutside: false };
}

function pointed(path: string, roots: readonly string[]): Repository[] {
  const top = dirname(path);
  const [, named] = /^gitdir: ([^\n]+)\n*$/.exec(readSmallFile(path)) ?? [];
  const directory = named === undefined ? undefined : realPath(resolve(top, named));
  if (directory === undefined) return [];
  const common = realPath(resolve(directory, readSmallFile(`${directory}/commondir`).trim() || '.'));
  if (common === undefined) return [];
  const isOutside = !roots.some((root) => isWithin(common, root));
  if (isOutside && !(roots.includes(top) && isRepository(common) && namesBack(directory, common, path)))
    return [];
  return [{ top, directory, common, isOutside }];
}

function isRepository(directory: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => entryStat(`${directory}/${name}`) !== undefined);
}

/** A working tree is named in `worktrees/<name>/gitdir`, a submodule by `core.worktree`. */
function namesBack(directory: string, common: string, path: string): boolean {
  const isTree = dirname(directory) === `${common}/worktrees`;
  if (isTree) return realPath(resolve(directory, readSmallFile(`${directory}/gitdir`).trim())) === path;
  const named = parseGitConfig(readSmallFile(`${directory}/config`)).findLast(
    ({ section, key }) => section === 'core' && key === 'worktree',
  );
  return (
    directory === common &&
    named?.value !== undefined &&
    realPath(resolve(directory, named.value)) === dirname(path)
  );
}

const SMALL_BYTES = 256 * 1024;

/** Empty where there is no such file. */
export function readSmallFile(path: string): string {
  try {
    return Buffer.from(readFileBytes(path, { maxBytes: SMALL_BYTES, acceptPipes: false })).toString();
  } catch {
    return '';
  }
}
