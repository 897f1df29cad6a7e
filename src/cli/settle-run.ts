import type { ConfiguredOptions } from '../config/configuration.js';
import { journalPlace } from './journal-place.js';
import { type ConfigOptions, configNotes, settleConfig } from './settle-config.js';
import type { Surroundings } from './surroundings.js';

/** The options of the command that say in which world calls run. */
export interface WorldOptions extends ConfigOptions {
  readonly journal?: string;
}

export interface SettledRun {
  /** For `createExecutor`. */
  readonly executor: ConfiguredOptions & { readonly root: readonly string[]; readonly journal: string };
  readonly parallel: boolean;
  /** To be told before anything runs. */
  readonly notes: readonly string[];
}

/** The configuration with the command's own defaults. @throws UsageError, ToolError config_invalid */
export function settleRun(options: WorldOptions, surroundings: Pick<Surroundings, 'env'>): SettledRun {
  const resolved = settleConfig(options, surroundings);
  const { executor, run } = resolved.configuration;
  const root = executor.root ?? ['.'];
  return {
    executor: {
      ...executor,
      root,
      // A path is written as the person sees it; it has to lie inside a root all the same.
      sandbox: { allowAbsolute: true, ...executor.sandbox },
      journal: journalPlace(options.journal, root),
    },
    parallel: run.parallel ?? false,
    notes: configNotes(resolved),
  };
}
