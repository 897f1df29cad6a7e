import type { ConfiguredOptions } from '../config/configuration.js';
import { type ConfigOptions, configNotes, settleConfig } from './settle-config.js';
import { createDisplay } from './show/create-display.js';
import type { Display } from './show/display.js';
import type { Surroundings } from './surroundings.js';

export interface Planning {
  /** For `createExecutor`: the world of `run`, without its journal. */
  readonly executor: ConfiguredOptions & { readonly journal: false };
  /** Has told what there is to be told of the configuration. */
  readonly display: Display;
}

/** For commands that judge calls and run none. @throws UsageError, ToolError `config_invalid` */
export function settlePlanning(
  options: ConfigOptions & { readonly json?: boolean },
  surroundings: Surroundings,
): Planning {
  const resolved = settleConfig(options, surroundings);
  const { executor } = resolved.configuration;
  const display = createDisplay(surroundings.stdio.stderr, options.json === true, surroundings.env);
  for (const note of configNotes(resolved)) display.note(note);
  const sandbox = { allowAbsolute: true, ...executor.sandbox };
  return { executor: { ...executor, sandbox, journal: false }, display };
}
