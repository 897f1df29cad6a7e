import type { Configuration, ConfiguredOptions } from '../config/configuration.js';
import { loadConfig } from '../config/load-config.js';
import { journalPlace } from './journal-place.js';

/** The options of the command that say in which world calls run. */
export interface WorldOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly journal?: string;
  readonly parallel?: boolean;
}

export interface SettledRun {
  /** For `createExecutor`. */
  readonly executor: ConfiguredOptions & { readonly root: readonly string[]; readonly journal: string };
  readonly parallel: boolean;
}

const NO_CONFIGURATION: Configuration = { executor: {}, run: {} };

/** Options beat the configuration, which beats the command's own defaults. @throws UsageError, ToolError config_invalid */
export function settleRun(options: WorldOptions): SettledRun {
  const { executor, run } = options.config === undefined ? NO_CONFIGURATION : loadConfig(options.config);
  const root = options.root ?? executor.root ?? ['.'];
  return {
    executor: {
      ...executor,
      root,
      // A path is written as the person sees it; it has to lie inside a root all the same.
      sandbox: { allowAbsolute: true, ...executor.sandbox },
      journal: journalPlace(options.journal, root),
    },
    parallel: options.parallel ?? run.parallel ?? false,
  };
}
