import { relative, resolve } from 'node:path';
import { type ResolvedConfig, resolveConfig } from '../config/resolve-config.js';
import type { Surroundings } from './surroundings.js';

/** The options of a command that say something about the configuration. */
export interface ConfigOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly parallel?: boolean;
}

/** Options of the command, environment, project, user and defaults as one. @throws ToolError `config_invalid` */
export function settleConfig(options: ConfigOptions, { env }: Pick<Surroundings, 'env'>): ResolvedConfig {
  const flags: Record<string, unknown> = {};
  if (options.root !== undefined) flags['tools.sandbox.allowed_roots'] = options.root;
  if (options.parallel !== undefined) flags['tools.allow_parallel'] = options.parallel;
  return resolveConfig({
    cwd: resolve('.'),
    env,
    flags,
    ...(options.config === undefined ? {} : { configFile: options.config }),
  });
}

/** What the person should know of the configuration before anything runs: a setting that is not applied is told. */
export function configNotes({ ignored, warnings }: ResolvedConfig): readonly string[] {
  const untrusted = ignored.map(
    ({ key, value, file, line, reason }) =>
      `${relative(resolve('.'), file)}:${line} sets ${key} = ${JSON.stringify(value)}, which is not applied: ${reason}`,
  );
  const remedy =
    ignored.length === 0
      ? []
      : ['a project that is not trusted may only tighten; look at it, then: toolexec config trust'];
  return [...warnings, ...untrusted, ...remedy];
}
