import { dirname, resolve } from 'node:path';
import { ToolError } from '../errors/tool-error.js';
import { ReadFailure } from '../platform/read-failure.js';
import { readTextFile } from '../platform/read-text-file.js';
import type { Configuration } from './configuration.js';
import { parseConfig } from './parse-config.js';

const MAX_BYTES = 1024 * 1024;

/**
 * The options that a configuration file names (D113–D122). Spread `executor` into the options of `createExecutor`.
 * @throws ToolError `config_invalid` when the file cannot be read, is no TOML, or holds an unknown key or a wrong value.
 */
export function loadConfig(file: string): Configuration {
  return parseConfig(readConfigFile(file), { file, directory: dirname(resolve(file)) });
}

function readConfigFile(file: string): string {
  try {
    return readTextFile(file, MAX_BYTES);
  } catch (error) {
    if (!(error instanceof ReadFailure)) throw error;
    const { reason, remedy } = error;
    throw new ToolError('config_invalid', `Cannot read the configuration "${file}": ${reason} ${remedy}`);
  }
}
