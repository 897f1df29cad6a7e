import { resolve } from 'node:path';
import { isObject, normalizeOptions, type OptionRules, option } from '../base/normalize-options.js';
import type { CommandLimits, Confinement, ShellRequest } from '../contract/processes.js';
import { ToolError } from '../errors/tool-error.js';
import { readEnvironment } from '../platform/environment.js';
import { commandEnvironment } from './command-environment.js';

export interface ShellOptions {
  /** Default `bash`. */
  readonly shell?: 'sh' | 'bash';
  /** What has no value is left out. Default: the program's own, sanitised. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** After this it is ended, and its status is `timeout`. Default: it may run for ever. */
  readonly timeoutMs?: number;
  /** Default: nothing keeps it in. */
  readonly confinement?: Confinement;
  /** Default: none. */
  readonly limits?: CommandLimits;
}

/** What a caller asks of a shell, complete and checked. @throws ToolError `config_invalid`. */
export function settleShell(command: string, cwd: string, options: ShellOptions): ShellRequest {
  requireText('command', command);
  requireText('cwd', cwd);
  const { shell, env, timeoutMs, confinement, limits } = normalizeOptions('options', options, RULES);
  return {
    shell: shell ?? 'bash',
    command,
    cwd: resolve(cwd),
    env: env === undefined ? commandEnvironment(readEnvironment()) : withValues(env),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(confinement === undefined ? {} : { confinement }),
    ...(limits === undefined ? {} : { limits }),
  };
}

/** Callers without types come here too, and what the system says of a number as a command helps nobody. */
function requireText(what: string, given: unknown): void {
  if (typeof given === 'string') return;
  throw new ToolError('config_invalid', `The ${what} of a shell must be a text, not ${String(given)}.`);
}

/** Who takes `process.env` and leaves a name out says `undefined`. */
function withValues(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

const SHELLS: readonly unknown[] = ['sh', 'bash'];

const isEnvironment = (value: unknown): boolean =>
  isObject(value) &&
  Object.values(Object(value)).every((each) => each === undefined || typeof each === 'string');

const isDuration = (value: unknown): boolean => typeof value === 'number' && value > 0;

const RULES: OptionRules<{ [K in keyof ShellOptions]-?: ShellOptions[K] | undefined }> = {
  shell: option(undefined, (value) => SHELLS.includes(value), 'one of sh, bash'),
  env: option(undefined, isEnvironment, 'an object of texts'),
  timeoutMs: option(undefined, isDuration, 'more than 0 milliseconds'),
  confinement: option(undefined, isObject, 'an object'),
  limits: option(undefined, isObject, 'an object'),
};
