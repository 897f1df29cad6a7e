import {
  type BinaryEntry,
  type BinaryPath,
  binaryEntry,
  readBinaryFile,
  rewriteBinaryFile,
  toBinary,
} from '../../platform/fs/binary-fs.js';
import { DANGEROUS, harmlessConfig } from '../sandbox/git/adopt-repository.js';
import { parseGitConfig } from '../sandbox/git/parse-git-config.js';
import type { Refusal, ScannedRoot } from './found-changes.js';

/** The verdict about a path in a repository: `fine`, or the reason for a refusal. */
export type GitAnswer = 'fine' | Refusal;

/**
 * Git's own files may change, because otherwise nothing could be committed. Files that make git run programs,
 * or lead it to other settings, may not. A repository that a command creates gets no hooks and only harmless
 * settings. Undefined: the path lies in no repository.
 * @param path below the root
 */
export function checkGit(
  root: ScannedRoot,
  path: BinaryPath,
  change: 'write' | 'delete',
  entry: BinaryEntry | undefined,
): GitAnswer | undefined {
  const names = path.split('/');
  const at = names.indexOf('.git');
  if (at === -1) return undefined;
  const git = names.slice(0, at + 1).join('/');
  const inside = names.slice(at + 1);
  const lower = binaryEntry(`${root.lower}/${git}`);
  if (inside.length === 0) return checkItself(root, git, change, entry, lower);
  if (lower === undefined) return checkNew(root, path, inside);
  if (lower.kind !== 'dir' || binaryEntry(`${root.lower}/${git}/HEAD`) === undefined) return GUARDED;
  return checkInside(root, path, change, inside);
}

const GUARDED: GitAnswer = { reason: 'git depends on it, and commands may not change it' };

function checkItself(
  root: ScannedRoot,
  git: BinaryPath,
  change: 'write' | 'delete',
  entry: BinaryEntry | undefined,
  lower: BinaryEntry | undefined,
): GitAnswer {
  if (change === 'delete') {
    return lower?.kind === 'file' && namesTree(root, `${root.lower}/${git}`) ? 'fine' : REPOSITORY_STAYS;
  }
  const upper = `${root.upper}/${git}`;
  if (entry?.kind === 'dir') return lower === undefined && isRepository(upper) ? 'fine' : GUARDED;
  return entry?.kind === 'file' && lower === undefined && namesTree(root, upper) ? 'fine' : GUARDED;
}

const REPOSITORY_STAYS: GitAnswer = { reason: 'commands may not remove a repository' };

function isRepository(git: BinaryPath): boolean {
  return (
    binaryEntry(`${git}/HEAD`)?.kind === 'file' &&
    binaryEntry(`${git}/objects`)?.kind === 'dir' &&
    binaryEntry(`${git}/refs`)?.kind === 'dir'
  );
}

/** Whether a `.git` file leads to the data that a repository of the same root keeps about a working tree. */
function namesTree(root: ScannedRoot, file: BinaryPath): boolean {
  const [, named] = /^gitdir: ([^\n]+)\n?$/.exec(small(file)) ?? [];
  const start = `${root.lower}/`;
  if (named === undefined || !named.startsWith(start) || /\/\.\.?(\/|$)/.test(named)) return false;
  const [git, kind] = /^(.*?\/\.git)\/(worktrees|modules)\//.exec(named)?.slice(1) ?? [];
  return git !== undefined && kind !== undefined && binaryEntry(`${git}/HEAD`)?.kind === 'file';
}

function checkNew(root: ScannedRoot, path: BinaryPath, inside: readonly BinaryPath[]): GitAnswer {
  const [first = ''] = inside;
  if (first === 'config' && inside.length === 1) {
    const config = `${root.upper}/${path}`;
    if (binaryEntry(config)?.kind !== 'file') return GUARDED;
    const text = Buffer.from(small(config), 'latin1').toString();
    const harmless = harmlessConfig(text);
    rewriteBinaryFile(config, toBinary(harmless));
    return parseGitConfig(text).length === parseGitConfig(harmless).length ? 'fine' : SETTINGS_LEFT_OUT;
  }
  if (first === 'hooks') {
    if (inside.length === 1) return binaryEntry(`${root.upper}/${path}`)?.kind === 'dir' ? 'fine' : GUARDED;
    return /\.sample$/.test(path) ? SAMPLE : GUARDED;
  }
  return DANGEROUS.includes(first) ? GUARDED : 'fine';
}

const SETTINGS_LEFT_OUT: GitAnswer = {
  reason: 'settings that are not known to be harmless are left out',
  isHarmless: true,
  isPart: true,
};

const SAMPLE: GitAnswer = { reason: 'sample hooks are left out', isHarmless: true };

const PROTECTED = ['hooks', 'config', 'config.worktree', 'commondir', 'gitdir'];

function checkInside(
  root: ScannedRoot,
  path: BinaryPath,
  change: 'write' | 'delete',
  inside: readonly BinaryPath[],
): GitAnswer {
  const [first = ''] = inside;
  if (PROTECTED.includes(first)) return GUARDED;
  if (change === 'delete' && inside.length === 1 && ['HEAD', 'objects', 'refs'].includes(first)) {
    return REPOSITORY_STAYS;
  }
  if (first === 'modules') return isProtectedModule(inside.slice(1)) ? GUARDED : 'fine';
  if (first !== 'worktrees' || !PROTECTED.includes(inside[2] ?? '')) return 'fine';
  if (change === 'delete') return 'fine';
  const isNew = binaryEntry(`${root.lower}/${path}`) === undefined;
  const text = small(`${root.upper}/${path}`).trim();
  if (isNew && inside.length === 3 && inside[2] === 'commondir' && text === '../..') return 'fine';
  const isTree = text.startsWith(`${root.lower}/`) && text.endsWith('/.git') && !/\/\.\.?(\/|$)/.test(text);
  return isNew && inside.length === 3 && inside[2] === 'gitdir' && isTree ? 'fine' : GUARDED;
}

/**
 * For a submodule's repository, whose name may contain slashes: names of branches and objects are not
 * settings.
 */
function isProtectedModule(inside: readonly BinaryPath[]): boolean {
  const end = inside.findIndex((name) => ['refs', 'logs', 'objects'].includes(name));
  return inside.slice(0, end === -1 ? undefined : end).some((name) => PROTECTED.includes(name));
}

const SMALL_BYTES = 256 * 1024;

function small(path: BinaryPath): BinaryPath {
  const entry = binaryEntry(path);
  return entry?.kind === 'file' && entry.size <= SMALL_BYTES ? readBinaryFile(path).toString('latin1') : '';
}
