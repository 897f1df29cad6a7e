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
  /** The directory with its index and its `HEAD`. */
  readonly directory: string;
  /**
   * The directory with its objects, branches, hooks and settings. It differs from `directory` for a tree that
   * `git worktree` created.
   */
  readonly common: string;
  /**
   * It lies outside the roots and itself names this working tree, so no command has made up the connection.
   */
  readonly isOutside: boolean;
}

/**
 * The repositories behind the paths that are guarded as `.git`: directories, and files that name one. A
 * repository outside the roots counts only if it names the working tree in turn and that tree is a root,
 * because any program can write a file with `gitdir:`.
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

/** Empty if there is no such file. */
export function readSmallFile(path: string): string {
  try {
    return Buffer.from(readFileBytes(path, { maxBytes: SMALL_BYTES, acceptPipes: false })).toString();
  } catch {
    return '';
  }
}
