import { dirname, resolve } from 'node:path';
import type { Configuration } from './configuration.js';
import { parseConfig } from './parse-config.js';
import { readConfigFile } from './read-config-file.js';

/**
 * The options that a configuration file names (D113–D123). Spread `executor` into the options of `createExecutor`.
 * The file is trusted: it is the caller who names it.
 * @throws ToolError `config_invalid` when the file cannot be read, is no TOML, or holds an unknown key or a wrong
 *   value: with file, line and column of the first problem, and all of them in `details.problems`.
 */
export function loadConfig(file: string): Configuration {
  const { text } = readConfigFile(file, { acceptPipes: true });
  return parseConfig(text, { file, directory: dirname(resolve(file)) });
}
