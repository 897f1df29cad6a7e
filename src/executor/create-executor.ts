import type { Executor } from '../contract/executor.js';
import { ownTools, withTask } from './builtin-tools.js';
import type { ExecutorOptions } from './executor-options.js';
import { type OpenedExecutor, openExecutor } from './open-executor.js';

/**
 * Creates the executor: calls in, exactly one truthful result per call out. Returns immediately: nothing touches the
 * disk or starts a process before the first call that needs it. Close it when done (`await using` does). Without
 * `tools` it has the built-in tools.
 * @throws ToolError `config_invalid` for a wrong option, a root that does not exist or a schema that cannot
 * be used; `duplicate_tool`. Examples of rules are checked on first use.
 */
export function createExecutor(options: ExecutorOptions = {}): Executor {
  return openWithBuiltins(options).executor;
}

/** The executor with its settings, for parts of toolexec that use it in a worker. @throws as `createExecutor` */
export function openWithBuiltins(options: ExecutorOptions): OpenedExecutor {
  return openExecutor(options, { create: ownTools, withTask });
}
