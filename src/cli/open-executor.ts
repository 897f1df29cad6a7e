import { join, resolve } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { covers } from '../base/covers.js';
import { rememberTrials } from '../commands/sandbox/remembered-trials.js';
import type { Configuration } from '../config/configuration.js';
import type { Executor } from '../contract/executor.js';
import type { ExternalTools } from '../contract/external.js';
import { discoverTools } from '../executor/discover-tools.js';
import type { ExecutorOptions } from '../executor/executor-options.js';
import { realPlace } from '../platform/fs/probe-place.js';
import { stateDirectory } from '../platform/runtime/environment.js';
import { isDatabase } from './journal-databases.js';

export type OpenOptions = ExecutorOptions & {
  /** The configured external tools. */
  readonly externalTools?: Configuration['external'];
};

/**
 * Opens the command's executor with the configured external tools. Their processes end with the executor or
 * this process and run only during calls. The sandbox is not tried again if an earlier process has done that.
 * @throws ToolError `config_invalid`
 */
export async function openExecutor({ externalTools, ...options }: OpenOptions): Promise<Executor> {
  // A command without a journal file only looks ahead, and leaves no file.
  if (typeof options.journal === 'object')
    rememberTrials(join(stateDirectory(), 'toolexec', 'sandbox-trials.json'), packageJson.version);
  const external = await openExternal({ externalTools, ...options });
  const world = external === undefined ? options : { ...options, external };
  const { journal } = world;
  const create = await creatorFor(options);
  if (typeof journal !== 'object' || !('path' in journal) || !isDatabase(journal.path)) return create(world);
  const { path, ...more } = journal;
  const { openStore } = await import('./journal-store.js');
  const store = await openStore(path, more);
  const executor = create({ ...world, journal: store });
  const close = executor.close.bind(executor);
  return Object.assign(executor, { close: () => close().finally(() => store.close()) });
}

/** The built-in tools are loaded only if they are used. */
async function creatorFor({ tools }: ExecutorOptions): Promise<(options: ExecutorOptions) => Executor> {
  if (tools === undefined) return (await import('../executor/create-executor.js')).createExecutor;
  const { openExecutor: open } = await import('../executor/open-executor.js');
  return (options) => open(options).executor;
}

/** Undefined if no directory is configured. */
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

/** Tools can write there, so programs in it must not be trusted. */
function liesInRoot(directory: string, root: OpenOptions['root'] = '.'): boolean {
  const roots = [root].flat().map((given) => (typeof given === 'string' ? given : given.path));
  return roots.some((path) => covers(realPlace(resolve(path)), realPlace(directory)));
}
