import type { ConfiguredOptions } from '../config/configuration.js';
import type { CliContext } from './cli-context.js';
import { createDisplay, type Display } from './display/display.js';
import {
  type ConfigOptions,
  configNotes,
  type ExternalSettings,
  externalSettings,
  resolveSettings,
} from './resolve-settings.js';

interface Planning {
  /** For `createExecutor`: the settings of `run`, without its journal. */
  readonly executor: ConfiguredOptions & ExternalSettings & { readonly journal: false };
  /** Has already reported the notes about the configuration. */
  readonly display: Display;
}

/** For commands that evaluate calls without running them. @throws UsageError, ToolError `config_invalid` */
export function resolvePlanning(
  options: ConfigOptions & { readonly json?: boolean },
  context: CliContext,
): Planning {
  const resolved = resolveSettings(options, context);
  const { executor, external: externalTools } = resolved.configuration;
  const display = createDisplay(context.stdio.stderr, options.json === true, context.env);
  for (const note of configNotes(resolved)) display.note(note);
  const sandbox = { allowAbsolute: true, ...executor.sandbox };
  return {
    executor: { ...executor, ...externalSettings({ externalTools }), sandbox, journal: false },
    display,
  };
}
