import type { ConfiguredOptions } from '../config/configuration.js';
import type { Logger } from '../contract/context.js';
import type { JournalFile } from '../executor/executor-options.js';
import { JOURNAL_LOSS } from '../journal/journal-loss.js';
import { journalPlace } from './journal-place.js';
import { type ConfigOptions, configNotes, settleConfig } from './settle-config.js';
import type { Surroundings } from './surroundings.js';

/** The options of the command that say in which world calls run. */
export interface WorldOptions extends ConfigOptions {
  readonly journal?: string;
}

export interface SettledRun {
  /** For `createExecutor`. */
  readonly executor: ConfiguredOptions & {
    readonly root: readonly string[];
    readonly journal: JournalFile;
    readonly logger: Logger;
  };
  readonly parallel: boolean;
  /** To be told before anything runs. */
  readonly notes: readonly string[];
}

/** The configuration with the command's own defaults. @throws UsageError, ToolError config_invalid */
export function settleRun(
  options: WorldOptions,
  surroundings: Pick<Surroundings, 'env' | 'stdio'>,
): SettledRun {
  const resolved = settleConfig(options, surroundings);
  const { executor, run, journal } = resolved.configuration;
  const root = executor.root ?? ['.'];
  return {
    executor: {
      ...executor,
      root,
      // A path is written as the person sees it; it has to lie inside a root all the same.
      sandbox: { allowAbsolute: true, ...executor.sandbox },
      journal: { path: journalPlace(options.journal, root), ...journal },
      logger: lossLogger(surroundings),
    },
    parallel: run.parallel ?? false,
    notes: configNotes(resolved),
  };
}

/** The results say what else there is to say. */
function lossLogger({ stdio }: Pick<Surroundings, 'stdio'>): Logger {
  return {
    debug: () => {},
    info: () => {},
    warn: ({ problem }, message) => {
      if (problem === JOURNAL_LOSS) stdio.stderr.write(`toolexec: ${message}\n`);
    },
    error: () => {},
  };
}
