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
 * A repository that commands have made aside becomes one, without what would make git run programs: of its settings
 * those stay that are known to be harmless, and none of its hooks. What is no repository is taken away.
 * @param made where they have made it. No command works in it any more.
 * @param git where it shall be; an existing directory.
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
    // With this it is one.
    moveEntry(`${made}/HEAD`, `${git}/HEAD`);
  }
}

const REPOSITORY = [
  ['HEAD', 'isFile'],
  ['objects', 'isDirectory'],
  ['refs', 'isDirectory'],
] as const;

/** Hooks, settings, and what leads to others of them. */
export const DANGEROUS = ['hooks', 'commondir', 'config.worktree', 'gitdir', 'modules', 'worktrees'];

function disarm(git: string): void {
  const settings = harmlessConfig(readSmallFile(`${git}/config`));
  for (const name of [...DANGEROUS, 'config']) removeQuietly(`${git}/${name}`);
  makeEmptyDirectory(`${git}/hooks`);
  writeNewFile(`${git}/config`, settings);
}

/** What is left of the text of a configuration when only those settings stay that are known to run nothing. */
export function harmlessConfig(text: string): string {
  return formatGitConfig(parseGitConfig(text).filter(isHarmless));
}

function isHarmless({ section, subsection, key, value = '' }: GitSetting): boolean {
  if (section === 'remote' && key === 'url') return ADDRESS.test(value);
  const keys = (subsection === undefined ? OF_ALL : OF_EACH).get(section);
  return keys?.includes(key) === true;
}

/** Whether all that git reads in it is known to be harmless; what only another reader understands is not. */
export function isHarmlessConfig(text: string): boolean {
  const lines = text.split('\n').filter((line) => !/^\s*$/.test(line));
  return lines.every((line) => PLAIN_LINE.test(line)) && parseGitConfig(text).every(isHarmless);
}

/** A section or a setting, without quotes, comments and continued lines. */
const PLAIN_LINE = /^\s*(?:\[[-.\w]+(?: "[^"\\\]]+")?\]|[a-zA-Z][-\w]*\s*=[^"\\#;\r]*)$/;

/**
 * Not `ext::`, which runs what follows, nor what begins like an option, as a whole or as a host, a user or a path in it.
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

/** Takes away placeholders that no program holds any more; a repository that was made in one becomes one. */
export function sweepPlaceholders(paths: readonly string[]): void {
  for (const path of paths) sweepPlaceholder(path, adoptRepository);
}
