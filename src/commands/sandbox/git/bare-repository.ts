import { basename, dirname, join } from 'node:path';
import { readableNames, toBinary, toText } from '../../../platform/fs/binary-fs.js';
import { entryStat } from '../../../platform/fs/fs-entry.js';
import { isHarmlessConfig } from './adopt-repository.js';
import { readSmallFile } from './find-repositories.js';

/** Whether a path exists after the changes. */
type IsThere = (path: string) => boolean;

/**
 * Git runs the hooks and settings of a repository that lies in a directory of any name (`git init --bare x`): each
 * directory with `HEAD`, and either `objects` and `refs` or `commondir`, is one.
 * @returns for a hook or the settings of such a repository, the name that they have in `.git`
 */
export function nameInBareRepository(path: string, isThere: IsThere): string | undefined {
  const directory = dirname(path);
  const isHook = basename(directory) === 'hooks';
  const git = isHook ? dirname(directory) : directory;
  if (!(isHook || SETTINGS.has(basename(path))) || IN_GIT.test(git)) return undefined;
  return isRepository(git, isThere) ? join(git, '.git', path.slice(git.length)) : undefined;
}

/**
 * Whether a new entry makes its directory a repository with hooks or settings that were there before and run
 * something. They were no more than files when they were written.
 */
export function wakesRepository(path: string, isThere: IsThere): boolean {
  if (!PARTS.has(basename(path))) return false;
  const git = dirname(path);
  if (IN_GIT.test(git) || !isRepository(git, isThere)) return false;
  const hooks = readableNames(toBinary(join(git, 'hooks'))).map((name) => join('hooks', toText(name)));
  return [...SETTINGS, ...hooks].some((name) => {
    const text = isThere(join(git, name)) ? readSmallFile(join(git, name)) : '';
    return text !== '' && !runsNothingInGit(join(git, '.git', name), Buffer.from(text));
  });
}

/**
 * The names under which git runs a file that a tool is about to change: a hook or the settings of a bare repository,
 * or the settings that its creation wakes.
 */
export function namesInRepository(path: string): readonly string[] {
  const name = nameInBareRepository(path, isOnDisk);
  if (name !== undefined) return [name];
  const part = WITHIN.exec(path)?.[1];
  if (part === undefined || isOnDisk(part)) return [];
  const isThere = (one: string): boolean => one === part || isOnDisk(one);
  return wakesRepository(part, isThere) ? [join(dirname(part), '.git', 'config')] : [];
}

function isOnDisk(path: string): boolean {
  return entryStat(path) !== undefined;
}

/** An entry of a repository, and a path below it, which creates it. */
const WITHIN = /^(.*\/(?:HEAD(?=$)|(?:objects|refs)(?=\/)))/s;

const SETTINGS = new Set(['config', 'config.worktree', 'commondir']);
const PARTS = new Set(['HEAD', 'objects', 'refs']);
const IN_GIT = /\/\.git(?:\/|$)/;

function isRepository(git: string, isThere: IsThere): boolean {
  const has = (name: string): boolean => isThere(join(git, name));
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')));
}

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
