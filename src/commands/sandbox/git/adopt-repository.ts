import { directoryEntries, entryStat, moveEntry } from '../../../platform/fs/fs-entry.js';
import {
  makeEmptyDirectory,
  removeFile,
  removeQuietly,
  writeNewFile,
} from '../../../platform/fs/make-and-remove.js';
import { sweepPlaceholder } from '../../../platform/process/placeholder.js';
import { readSmallFile } from './find-repositories.js';
import { formatGitConfig, type GitSetting, parseGitConfig } from './parse-git-config.js';

/**
 * Installs a repository that commands created in a temporary place, without anything that makes git run
 * programs: it keeps only settings that are known to be harmless, and no hooks. A directory that is not a repository is
 * removed. @param made the temporary place, in which no command works now
 * @param git the final place, an existing directory
 */
export function adoptRepository(made: string, git: string): void {
  const entries = entryStat(made)?.isDirectory() === true ? directoryEntries(made) : [];
  for (const { name, type } of entries) {
    if (type !== 'file' && type !== 'dir') removeFile(`${made}/${name}`);
  }
  if (REPOSITORY.every(([name, type]) => entryStat(`${made}/${name}`)?.[type]() === true)) {
    disarm(made);
    for (const { name } of directoryEntries(made))
      if (name !== 'HEAD') moveEntry(`${made}/${name}`, `${git}/${name}`);
    // This file makes it a repository.
    moveEntry(`${made}/HEAD`, `${git}/HEAD`);
  }
}

const REPOSITORY = [
  ['HEAD', 'isFile'],
  ['objects', 'isDirectory'],
  ['refs', 'isDirectory'],
] as const;

/** Hooks, settings, and files that lead to other ones. */
export const DANGEROUS = ['hooks', 'commondir', 'config.worktree', 'gitdir', 'modules', 'worktrees'];

function disarm(git: string): void {
  const settings = harmlessConfig(readSmallFile(`${git}/config`));
  for (const name of [...DANGEROUS, 'config']) removeQuietly(`${git}/${name}`);
  makeEmptyDirectory(`${git}/hooks`);
  writeNewFile(`${git}/config`, settings);
}

/** The text of a configuration, reduced to settings that are known to run nothing. */
export function harmlessConfig(text: string): string {
  return formatGitConfig(parseGitConfig(text).filter(isHarmless));
}

function isHarmless({ section, subsection, key, value = '' }: GitSetting): boolean {
  if (section === 'remote' && key === 'url') return ADDRESS.test(value);
  const keys = (subsection === undefined ? OF_ALL : OF_EACH).get(section);
  return keys?.includes(key) === true;
}

/**
 * Whether every setting that git reads in it is known to be harmless. A line that only another parser
 * understands is not.
 */
export function isHarmlessConfig(text: string): boolean {
  const lines = text.split('\n').filter((line) => !/^\s*$/.test(line));
  return lines.every((line) => PLAIN_LINE.test(line)) && parseGitConfig(text).every(isHarmless);
}

/** A section or a setting, without quotes, comments and continued lines. */
const PLAIN_LINE = /^\s*(?:\[[-.\w]+(?: "[^"\\\]]+")?\]|[a-zA-Z][-\w]*\s*=[^"\\#;\r]*)$/;

/**
 * Neither `ext::`, which runs the following text, nor an address that looks like an option, as a whole or in
 * its host, user or path.
 */
const ADDRESS = /^(?!.*::)(?!.*(?:\/\/|[@:])-)(?:(?:https?|ssh|git|file):\/\/|[\w./~])/;

const OF_ALL = new Map(
  Object.entries<readonly string[]>({
    core: [
      'repositoryformatversion',
      'filemode',
      'bare',
      'logallrefupdates',
      'ignorecase',
      'precomposeunicode',
      'symlinks',
      'autocrlf',
      'eol',
    ],
    extensions: ['objectformat', 'refstorage'],
    user: ['name', 'email'],
    init: ['defaultbranch'],
    pull: ['rebase', 'ff'],
  }),
);

const OF_EACH = new Map(
  Object.entries<readonly string[]>({ remote: ['fetch'], branch: ['remote', 'merge', 'rebase'] }),
);

/**
 * Removes placeholders that no program holds; repositories that were created in them are installed.
 */
export function sweepPlaceholders(paths: readonly string[]): void {
  for (const path of paths) sweepPlaceholder(path, adoptRepository);
}
