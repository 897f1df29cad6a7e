import { targetOf } from '../../../platform/fs-entry.js';
import { configHome } from '../../../platform/user-directories.js';
import { readSmallFile } from './find-repositories.js';
import { formatGitConfig, type GitSetting, parseGitConfig } from './parse-git-config.js';

/**
 * What a person has set for their git, as the text of a configuration for commands: who they are, and how they like
 * lines to end, branches to be called and changes to be joined. Nothing that names a program, a file or a key:
 * aliases, credential helpers, hooks, filters, pagers, signing. What it includes is not read.
 * @param env `HOME` and `XDG_CONFIG_HOME`
 */
export function personalGitSettings(env: Readonly<Record<string, string>>): string {
  const { HOME } = env;
  if (HOME === undefined || !HOME.startsWith('/')) return '';
  const files = [`${configHome(env)}/git/config`, `${HOME}/.gitconfig`];
  const print = JSON.stringify(files.map((file) => [file, printOf(file)]));
  if (known?.print === print) return known.text;
  const settings = files.flatMap((file) => parseGitConfig(readSmallFile(file)));
  const text = formatGitConfig(settings.filter(isHarmless));
  known = { print, text };
  return text;
}

let known: { readonly print: string; readonly text: string } | undefined;

function printOf(path: string): string {
  const { ino, size, mtimeMs, ctimeMs } = targetOf(path) ?? {};
  return [ino, size, mtimeMs, ctimeMs].join();
}

function isHarmless({ section, subsection, key }: GitSetting): boolean {
  return subsection === undefined && HARMLESS.get(section)?.includes(key) === true;
}

const HARMLESS = new Map(
  Object.entries<readonly string[]>({
    user: ['name', 'email', 'useconfigonly'],
    author: ['name', 'email'],
    committer: ['name', 'email'],
    init: ['defaultbranch', 'defaultobjectformat'],
    core: ['autocrlf', 'eol', 'safecrlf', 'quotepath', 'precomposeunicode', 'abbrev'],
    commit: ['cleanup', 'verbose', 'status'],
    diff: ['algorithm', 'renames', 'noprefix', 'mnemonicprefix', 'context'],
    fetch: ['prune'],
    log: ['date', 'decorate', 'follow'],
    merge: ['ff', 'conflictstyle', 'renames', 'stat'],
    pull: ['ff', 'rebase'],
    push: ['default', 'autosetupremote', 'followtags'],
    rebase: ['autosquash', 'autostash', 'updaterefs', 'missingcommitscheck'],
    rerere: ['enabled', 'autoupdate'],
    safe: ['directory'],
    stash: ['showincludeuntracked'],
    status: ['short', 'branch', 'showuntrackedfiles', 'relativepaths'],
  }),
);
