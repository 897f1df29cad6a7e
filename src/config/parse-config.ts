import type { Configuration } from './configuration.js';
import { readSettings } from './read-settings.js';
import { toConfiguration } from './to-configuration.js';

export interface ConfigPlace {
  /** For messages. */
  readonly file: string;
  /** Absolute: what relative paths start from. */
  readonly directory: string;
}

/**
 * Options from the text of a configuration.
 * @throws ToolError `config_invalid` with file, line and column of the first problem; all are in `details.problems`.
 */
export function parseConfig(text: string, { file, directory }: ConfigPlace): Configuration {
  return toConfiguration(readSettings(text, file).map(({ key, value }) => ({ key, value, directory })));
}
