import { join, resolve } from 'node:path';
import { covers } from '../../base/covers.js';
import { quoteWord } from '../../base/quote-word.js';
import { DEFAULT_DENIED_WRITE_PATTERNS } from '../../files/default-denies.js';
import { probePlace, realPlace } from '../../platform/fs/probe-place.js';
import { findShell } from '../../platform/process/find-shell.js';
import { configDirectory, homeOf, stateDirectory } from '../../platform/runtime/environment.js';
import { type CliContext, UsageError } from '../cli-context.js';
import type { OpenOptions } from '../open-executor.js';
import { type ResolvedRun, resolveRun } from '../resolve-settings.js';

export interface TrySettings {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly journal?: string;
  readonly network: boolean;
  readonly showSecrets?: boolean;
}

/** The executor options for a command that the person runs. @throws UsageError, ToolError `config_invalid` */
export function trySettings(
  options: TrySettings,
  context: CliContext,
): OpenOptions & Pick<ResolvedRun, 'notes'> {
  const { executor, notes } = resolveRun(options, context);
  const { externalTools: _, policy: __, builtins: ___, ...rest } = executor;
  const shown = options.showSecrets === true ? SHOWN : {};
  return {
    ...rest,
    notes,
    profile: 'none',
    // Rules for agents do not apply to the person. All changes are asked about when the command has ended.
    policy: { decide: () => ({ disposition: 'requires_confirmation', reason: 'you decide what is kept' }) },
    sandbox: {
      ...rest.sandbox,
      os: 'required',
      transactions: 'required',
      network: options.network,
      readable: [...(rest.sandbox?.readable ?? []), ...shellSettings(context)],
      ...(options.showSecrets === true ? shownFiles(rest.sandbox?.deniedWritePatterns) : {}),
    },
    ...shown,
  };
}

/** All of the person's environment. */
const SHOWN: Pick<OpenOptions, 'environment'> = { environment: { denylist: [], pass: ['*'] } };

/** Nothing is hidden; files that make other programs run something are protected all the same. */
function shownFiles(more: readonly string[] = []): NonNullable<OpenOptions['sandbox']> {
  const own = [configDirectory(), stateDirectory()].map((home) => `${join(home, 'toolexec')}/**`);
  return {
    includeDefaultDenies: false,
    deniedPatterns: [],
    deniedWritePatterns: [...DEFAULT_DENIED_WRITE_PATTERNS, ...own, ...more],
  };
}

const SHELL_SETTINGS = [
  ...['.bashrc', '.bash_aliases', '.bash_profile', '.profile', '.inputrc', '.vimrc', '.tmux.conf'],
  ...['.zshrc', '.zshenv', '.zprofile', '.config/fish/config.fish', '.config/starship.toml'],
];

/** In the sandbox the home directory is empty, and a shell without its settings behaves differently. */
function shellSettings({ env }: CliContext): readonly string[] {
  const home = homeOf(env);
  return SHELL_SETTINGS.map((name) => join(home, name)).filter((path) => probePlace(path).exists);
}

/** The command line: the words unchanged, or one word that is a whole command line. */
export function commandLine(words: readonly string[], { env }: CliContext): string {
  const [first = '', ...rest] = words;
  if (words.length === 0) return quoteWord(env.SHELL || findShell('bash', env.PATH) || '/bin/sh');
  if (rest.length === 0 && /[\s;&|<>()$`"'*?]/.test(first)) return first;
  return words.map(quoteWord).join(' ');
}

/** The person's directory if it lies in a root, otherwise the first root. */
export function workingDirectory(roots: readonly string[]): string {
  const here = realPlace(resolve('.'));
  const real = roots.map((root) => realPlace(resolve(root)));
  const [first] = real;
  if (first === undefined) throw new UsageError('Cannot try anything: name a directory with --root.');
  return real.some((root) => covers(root, here)) ? here : first;
}

export function shellFor({ env }: CliContext): 'sh' | 'bash' {
  return findShell('bash', env.PATH) === undefined ? 'sh' : 'bash';
}
