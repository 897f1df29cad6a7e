import { randomBytes } from 'node:crypto';
import { basename, dirname, resolve } from 'node:path';
import type { GuardedPath } from '../../../contract/files.js';
import {
  directoryEntries,
  entryNames,
  entryStat,
  filePrint,
  moveToFreeName,
  realPath,
  targetOf,
} from '../../../platform/fs/fs-entry.js';
import { writeNewFile } from '../../../platform/fs/make-and-remove.js';
import { openPlaceDescriptor } from '../../../platform/fs/place-descriptor.js';
import { readFileBytes } from '../../../platform/fs/read-file-bytes.js';
import { harmlessConfig, isHarmlessConfig } from './adopt-repository.js';
import { type Repository, readSmallFile } from './find-repositories.js';
import { parseGitLinks } from './parse-git-links.js';
import { modulesIn } from './repository-mounts.js';

/** The paths that are guarded as `.git`. */
export type GitEntries = ReadonlySet<string>;

export function gitEntries(guarded: readonly GuardedPath[]): GitEntries {
  return new Set(guarded.filter(({ path }) => basename(path) === '.git').map(({ path }) => path));
}

/**
 * Disables everything that would make git run programs in a new repository: a plain `git status` enters each
 * repository that the index names. Nothing is lost: settings, hooks and files that lead elsewhere are
 * renamed.
 * @param git a directory, or a file that leads to one
 * @param known the repositories that existed before
 * @param isRunning the command still runs: a working tree that `git worktree add` has not finished is left
 * alone
 * @returns whether there was anything to disable
 */
export function disarmPlanted(git: string, known: GitEntries, isRunning = false): boolean {
  const place = openPlaceDescriptor(git);
  // It was removed a moment ago, or it is a link, which git does not follow either.
  if (place === undefined) return false;
  try {
    if (targetOf(place.at)?.isDirectory() === true) return disarmDirectory(git, place.at);
  } finally {
    place.close();
  }
  return !leadsToKnown(git, known, isRunning) && inParent(git, (parent) => putAside(`${parent}/.git`));
}

function disarmDirectory(git: string, at: string): boolean {
  const found = [
    disarmConfig(at),
    disarmHooks(git, at),
    ...ELSEWHERE.map((name) => putAside(`${at}/${name}`)),
    ...modulesIn(`${git}/modules`).map((module) => disarmPlanted(module, new Set())),
  ];
  return found.includes(true);
}

/** Files that lead to other directories and additional settings. */
const ELSEWHERE = ['commondir', 'config.worktree'];

function disarmConfig(at: string): boolean {
  const config = `${at}/config`;
  if (entryStat(config) === undefined) return false;
  const text = entryStat(config)?.isFile() === true ? readSmallFile(config) : '';
  if (text !== '' && isHarmlessConfig(text)) return false;
  if (!putAside(config)) return false;
  attempt(() => writeNewFile(config, harmlessConfig(text)));
  return true;
}

function disarmHooks(git: string, at: string): boolean {
  const hooks = `${at}/hooks`;
  const stat = entryStat(hooks);
  if (stat === undefined) return false;
  if (!stat.isDirectory()) return putAside(hooks);
  const place = openPlaceDescriptor(`${git}/hooks`);
  if (place === undefined) return false;
  try {
    const names = directoryEntries(place.at).map(({ name }) => name);
    const live = names.filter((name) => !/\.(sample|disabled(-[0-9a-f]{8})?)$/.test(name));
    return live.map((name) => putAside(`${place.at}/${name}`)).includes(true);
  } finally {
    place.close();
  }
}

/** Whether a `.git` file leads to the data that a known repository keeps about a working tree. */
function leadsToKnown(file: string, known: GitEntries, isRunning: boolean): boolean {
  if (isRunning && isEmpty(file)) return true;
  const [, named] = /^gitdir: ([^\n]+)\n*$/.exec(readSmallFile(file)) ?? [];
  const directory = named === undefined ? undefined : realPath(resolve(dirname(file), named));
  if (directory === undefined) return false;
  const [, git, kind] = /^(.*\/\.git)\/(worktrees|modules)\/.+$/.exec(directory) ?? [];
  if (git === undefined || !known.has(git)) return false;
  if (kind === 'modules') return true;
  const settings = `${directory}/config.worktree`;
  return (
    dirname(directory) === `${git}/worktrees` &&
    // In this order: git may finish the tree between the two checks.
    ((isRunning && isUnfinished(directory)) || readSmallFile(`${directory}/commondir`).trim() === '../..') &&
    (entryStat(settings) === undefined || isHarmlessConfig(readSmallFile(settings)))
  );
}

/**
 * Git writes the `.git` of a working tree before `commondir`. Until then it does not accept the directory as
 * a repository, unless there are objects in it.
 */
function isUnfinished(directory: string): boolean {
  const commonDirectory = `${directory}/commondir`;
  return (
    (entryStat(commonDirectory) === undefined || isEmpty(commonDirectory)) &&
    entryStat(`${directory}/objects`) === undefined
  );
}

function isEmpty(file: string): boolean {
  const stat = entryStat(file);
  return stat?.isFile() === true && stat.size === 0;
}

function inParent(path: string, step: (parent: string) => boolean): boolean {
  const place = openPlaceDescriptor(dirname(path));
  if (place === undefined) return false;
  try {
    return step(place.at);
  } finally {
    place.close();
  }
}

/** Renames it to a name that git does not know. */
function putAside(path: string): boolean {
  if (entryStat(path) === undefined) return false;
  const names = [`${path}.disabled`, `${path}.disabled-${randomBytes(4).toString('hex')}`];
  return names.some((name) => attempt(() => moveToFreeName(path, name)));
}

function attempt(step: () => void): boolean {
  try {
    step();
    return true;
  } catch {
    return false;
  }
}

/**
 * The repositories that the indexes of other repositories name, as paths with `.git`, also in places that are
 * not searched for guarded files, such as `node_modules`. An index is read only if it has changed since the
 * first call.
 */
export function watchGitLinks(repositories: readonly Repository[]): () => readonly string[] {
  const indexes = repositories.map((repository) => ({
    ...repository,
    print: filePrint(`${repository.directory}/index`),
  }));
  return () =>
    indexes.flatMap(({ top, directory, common, print }) => {
      if (filePrint(`${directory}/index`) === print) return [];
      return linksOf(directory, common).map((path) => `${top}/${path}/.git`);
    });
}

const INDEX_BYTES = 256 * 1024 * 1024;

/** Empty if another program has moved it away in the meantime. */
function namesIn(directory: string): readonly string[] {
  try {
    return entryNames(directory);
  } catch {
    return [];
  }
}

/** Includes the shared indexes that it may refer to. */
function linksOf(directory: string, common: string): readonly string[] {
  const isSha256 = /^\s*objectformat\s*=\s*"?sha256/im.test(readSmallFile(`${common}/config`));
  const shared = namesIn(directory).filter((name) => name.startsWith('sharedindex.'));
  return ['index', ...shared].flatMap((name) => {
    try {
      const bytes = readFileBytes(`${directory}/${name}`, { maxBytes: INDEX_BYTES, acceptPipes: false });
      return parseGitLinks(Buffer.from(bytes), isSha256 ? 32 : 20);
    } catch {
      return [];
    }
  });
}
