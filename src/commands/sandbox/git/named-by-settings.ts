import { dirname, join, resolve } from 'node:path';
import { readableNames, toBinary, toText } from '../../../platform/fs/binary-fs.js';
import { entryStat, filePrint, linkText, targetOf } from '../../../platform/fs/fs-entry.js';
import { configHome, homeOf, readEnvironment } from '../../../platform/runtime/environment.js';
import { isWithin } from '../mount-holder.js';
import { findRepositories, type Repository, readSmallFile } from './find-repositories.js';
import { type GitSetting, parseGitConfig } from './parse-git-config.js';

/** A path that git reads or runs in the place of another one. */
interface NamedByGit {
  /** Absolute, as the setting or the link names it. It may be missing, and links may lead to it. */
  readonly target: string;
  /** The hook or the settings file of git whose place it takes. */
  readonly name: string;
}

/**
 * The paths that a repository runs as hooks, reads as settings, or names in a setting: `core.hooksPath`, included
 * files, and the files that commands in settings name (`core.fsmonitor`, filters, aliases). The settings of the person
 * count too.
 * @param git a directory or a file with the name `.git`
 */
export function namedBySettings(git: string, roots: readonly string[]): readonly NamedByGit[] {
  const type = entryStat(git)?.isFile() === true ? 'file' : 'dir';
  const [repository] = findRepositories([{ path: git, type }], roots);
  if (repository === undefined) return [];
  const found: NamedByGit[] = [];
  const { top, directory, common } = repository;
  const own = [join(common, 'config'), join(directory, 'config.worktree')];
  for (const target of own) found.push({ target, name: join(top, '.git/config') });
  for (const name of ['', ...readableNames(toBinary(join(common, 'hooks'))).map(toText)]) {
    const target = join(common, 'hooks', name);
    if (name === '' || linkText(target) !== undefined)
      found.push({ target, name: join(top, '.git/hooks', name) });
  }
  for (const file of [...own, ...personalFiles()]) addNamed(found, file, repository, roots, 0);
  return found;
}

function personalFiles(): readonly string[] {
  const env = readEnvironment();
  return ['/etc/gitconfig', join(configHome(env), 'git/config'), join(homeOf(env), '.gitconfig')];
}

const DEEPEST_INCLUDE = 10;

function addNamed(
  found: NamedByGit[],
  file: string,
  repository: Repository,
  roots: readonly string[],
  depth: number,
): void {
  const { top } = repository;
  const [hooks, config] = [join(top, '.git/hooks'), join(top, '.git/config')];
  for (const setting of settingsIn(file)) {
    const { section, key, value = '' } = setting;
    if (value === '' || isData(setting)) continue;
    // Any other alias is a command of git itself.
    if (section === 'alias' && !value.startsWith('!')) continue;
    const place = (from: string): string =>
      resolve(from, value.replace(/^~(?=\/)/, homeOf(readEnvironment())));
    if (key === 'hookspath') found.push({ target: place(top), name: hooks });
    else if (key === 'templatedir') found.push({ target: join(place(top), 'hooks'), name: hooks });
    else if (key === 'path' && section.startsWith('include')) {
      const target = place(dirname(file));
      found.push({ target, name: config });
      if (depth < DEEPEST_INCLUDE) addNamed(found, target, repository, roots, depth + 1);
    } else {
      const words = value.split(BETWEEN_WORDS).filter((word) => word !== '');
      // A shell searches for a first word without a slash in its search path: `defaultBranch = main` runs no file.
      const files = words.filter((word, index) => index > 0 || word.includes('/'));
      const targets = files.map((word) => resolve(top, word));
      const isNamed = (path: string): boolean => roots.some((root) => isWithin(path, root)) && isFile(path);
      for (const target of targets) if (isNamed(target)) found.push({ target, name: join(hooks, key) });
    }
  }
}

const BETWEEN_WORDS = /[\s;&|"'()=!]+/;

function isFile(path: string): boolean {
  return targetOf(path)?.isFile() === true;
}

/** Settings that name files with data, or no file at all. */
function isData({ section, subsection, key }: GitSetting): boolean {
  const name = subsection === undefined ? `${section}.${key}` : `${section}.*.${key}`;
  return DATA.test(name);
}

const DATA =
  /^(?:user\.|branch\.|core\.(?:excludesfile|attributesfile|worktree)$|commit\.template$|mailmap\.file$|blame\.ignorerevsfile$|gpg\.ssh\.allowedsignersfile$|remote\.\*\.(?:url|pushurl|fetch|push)$|submodule\.\*\.(?:url|active|branch|path)$|url\.)/;

interface ReadSettings {
  readonly print: string | undefined;
  readonly settings: readonly GitSetting[];
}

/** By path. A file is read again only if it has changed. */
const read = new Map<string, ReadSettings>();
const MOST_READ = 500;

function settingsIn(file: string): readonly GitSetting[] {
  const print = filePrint(file);
  const known = read.get(file);
  if (known !== undefined && known.print === print) return known.settings;
  if (read.size > MOST_READ) read.clear();
  // A link has no print, and is read each time.
  const settings = parseGitConfig(readSmallFile(file));
  if (print !== undefined) read.set(file, { print, settings });
  return settings;
}
