import { basename, dirname, join } from 'node:path';
import { isHarmlessConfig } from './adopt-repository.js';

/**
 * Git runs the hooks and settings of a repository that lies in a directory of any name (`git init --bare x`): each
 * directory with `HEAD`, `objects` and `refs` is one.
 * @param isThere whether a path exists after the changes
 * @returns for a hook or the settings of such a repository, the name that they have in `.git`
 */
export function nameInBareRepository(path: string, isThere: (path: string) => boolean): string | undefined {
  const directory = dirname(path);
  const isHook = basename(directory) === 'hooks';
  const git = isHook ? dirname(directory) : directory;
  if (!(isHook || SETTINGS.has(basename(path))) || /\/\.git(?:\/|$)/.test(git)) return undefined;
  const isRepository = ['HEAD', 'objects', 'refs'].every((name) => isThere(join(git, name)));
  return isRepository ? join(git, '.git', path.slice(git.length)) : undefined;
}

const SETTINGS = new Set(['config', 'config.worktree', 'commondir']);

/**
 * Whether a hook or a settings file of git makes git run nothing: a sample, or only settings that are known to be
 * harmless.
 * @param after its content; undefined if it is gone
 */
export function runsNothingInGit(path: string, after: Uint8Array | undefined): boolean {
  const [, inside] = /\/\.git\/(.+)$/s.exec(path) ?? [];
  if (inside === undefined || after === undefined) return false;
  if (/^hooks\/[^/]+\.sample$/.test(inside)) return true;
  return inside === 'config' && isHarmlessConfig(Buffer.from(after).toString());
}
