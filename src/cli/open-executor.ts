import { resolve } from 'node:path';
import { covers } from '../base/covers.js';
import type { Configuration } from '../config/configuration.js';
import type { Executor } from '../contract/executor.js';
import type { ExternalTools } from '../contract/external.js';
import { createExecutor } from '../executor/create-executor.js';
import { discoverTools } from '../executor/discover-tools.js';
import type { ExecutorOptions } from '../executor/executor-options.js';
import { realPlace } from '../platform/fs/probe-place.js';

export type OpenOptions = ExecutorOptions & {
  /** What the configuration says of programs that are tools. */
  readonly externalTools?: Configuration['external'];
};

/**
 * An executor of the command, with the programs that the configuration names. Those end with the executor, or with this
 * process: nothing of them runs outside of a call.
 * @throws ToolError `config_invalid`
 */
export async function openExecutor({ externalTools, ...options }: OpenOptions): Promise<Executor> {
  const external = await openExternal({ externalTools, ...options });
  return createExecutor(external === undefined ? options : { ...options, external });
}

/** Undefined where the configuration names no directory. */
export async function openExternal({
  externalTools = {},
  root,
  environment,
  logger,
}: Pick<OpenOptions, 'externalTools' | 'root' | 'environment' | 'logger'>): Promise<
  ExternalTools | undefined
> {
  const { directories = [], trusted = [], breaker, warm, ...more } = externalTools;
  if (directories.length === 0) return undefined;
  return discoverTools(directories, {
    ...more,
    ...(breaker === undefined ? {} : { breaker: breaker.threshold === 0 ? false : breaker }),
    ...(warm === undefined ? {} : { warm: warm.processes === 0 ? false : warm }),
    trusted: trusted.filter((directory) => !liesInRoot(directory, root)),
    ...(environment === undefined ? {} : { environment }),
    ...(logger === undefined ? {} : { logger }),
  });
}

/** Tools may write there: what they replace must not be believed. */
function liesInRoot(directory: string, root: OpenOptions['root'] = '.'): boolean {
  const roots = [root].flat().map((given) => (typeof given === 'string' ? given : given.path));
  return roots.some((path) => covers(realPlace(resolve(path)), realPlace(directory)));
}
