import { targetOf } from '../../../platform/fs/fs-entry.js';
import { configHome } from '../../../platform/runtime/environment.js';
import { readSmallFile } from './find-repositories.js';
import { formatGitConfig, type GitSetting, parseGitConfig } from './parse-git-config.js';

/** A file that commands find in their home directory. */
export interface PersonalFile {
  readonly path: string;
  readonly text: string;
}

/**
 * The person's git settings, as files for commands: name and address, line ends, names of branches, ways of
 * merging, and ignored patterns. Settings that name a program, a file or a key are left out: aliases,
 * credential helpers, hooks, filters, pagers, signing. Included files are not read.
 * @param env `HOME` and `XDG_CONFIG_HOME`
 * @param home the home directory of commands
 */
export function personalGitFiles(
  env: Readonly<Record<string, string>>,
  home: string,
): readonly PersonalFile[] {
  const { HOME } = env;
  if (HOME === undefined || !HOME.startsWith('/')) return [];
  const files = [`${configHome(env)}/git/config`, `${HOME}/.gitconfig`];
  const print = JSON.stringify([home, ...files.map((file) => [file, printOf(file)])]);
  const settings = known?.print === print ? known : readSettings(print, files);
  known = settings;
  const ignored = ignoredBy(settings.ignore ?? `${configHome(env)}/git/ignore`, HOME);
  const [config, ignore] = [`${home}/.gitconfig`, `${home}/.gitignore_global`];
  if (ignored === '') return settings.text === '' ? [] : [{ path: config, text: settings.text }];
  const named = { section: 'core', subsection: undefined, key: 'excludesfile', value: ignore };
  return [
    { path: config, text: settings.text + formatGitConfig([named]) },
    { path: ignore, text: ignored },
  ];
}

interface ReadSettings {
  readonly print: string;
  readonly text: string;
  /** The file of ignore patterns that the settings name. */
  readonly ignore: string | undefined;
}

let known: ReadSettings | undefined;

function readSettings(print: string, files: readonly string[]): ReadSettings {
  const settings = files.flatMap((file) => parseGitConfig(readSmallFile(file)));
  const named = settings.findLast(({ section, subsection, key }) => {
    return section === 'core' && subsection === undefined && key === 'excludesfile';
  });
  return { print, text: formatGitConfig(settings.filter(isHarmless)), ignore: named?.value };
}

/** Empty if there are none, or more than fit into a command line. */
function ignoredBy(named: string, home: string): string {
  const path = named.replace(/^~(?=\/)/, home);
  if (!path.startsWith('/') || (targetOf(path)?.size ?? MOST_IGNORED) >= MOST_IGNORED) return '';
  const text = readSmallFile(path);
  return text.includes('\0') ? '' : text;
}

const MOST_IGNORED = 8192;

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
