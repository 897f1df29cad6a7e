import { dirname, resolve } from 'node:path';
import { isFilledText } from '../base/normalize-options.js';
import { ToolError } from '../errors/tool-error.js';
import { CONFIG_KEYS } from './config-keys.js';
import type { Configuration } from './configuration.js';
import { readConfigFile } from './read-config-file.js';
import { readSettings } from './read-settings.js';

interface SettingValue {
  /** A key of `CONFIG_KEYS`. */
  readonly key: string;
  /** In the file's notation; a valid value of the key. */
  readonly value: unknown;
  /** Absolute: the start of relative paths in the value. */
  readonly directory: string;
}

/** Converts settings to options and adds nothing. */
export function toConfiguration(settings: readonly SettingValue[]): Configuration {
  const configuration: OptionTree = { executor: {}, run: {} };
  for (const { key, value, directory } of settings) {
    const known = CONFIG_KEYS[key];
    if (known === undefined) continue;
    setOption(configuration, known.option.split('.'), known.kind.toOption(value, directory));
  }
  // The kind of each key produces the type of its option: the table is the parse boundary.
  return configuration as unknown as Configuration;
}

interface OptionTree {
  [name: string]: unknown;
}

function setOption(tree: OptionTree, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  const inner: OptionTree = { ...(tree[name] as OptionTree | undefined) };
  setOption(inner, rest, value);
  tree[name] = inner;
}

interface ConfigPlace {
  /** For messages. */
  readonly file: string;
  /** Absolute: the start of relative paths. */
  readonly directory: string;
}

/**
 * Parses the text of a configuration into options.
 * @throws ToolError `config_invalid` with file, line and column of the first problem; all are in
 * `details.problems`.
 */
export function parseConfig(text: string, { file, directory }: ConfigPlace): Configuration {
  return toConfiguration(readSettings(text, file).map(({ key, value }) => ({ key, value, directory })));
}

/**
 * Loads a configuration file as options (D113–D123). Spread `executor` into the options of `createExecutor`.
 * The file is trusted, because the caller names it.
 * @throws ToolError `config_invalid` if the file is unreadable, is not TOML, or has an unknown key or invalid
 * value: with file, line and column of the first problem, and all of them in `details.problems`.
 */
export function loadConfig(file: string): Configuration {
  if (!isFilledText(file)) {
    const given = typeof file === 'string' ? '""' : typeof file;
    throw new ToolError('config_invalid', `Cannot load a configuration from ${given}: name a file.`);
  }
  const { text } = readConfigFile(file, { acceptPipes: true });
  return parseConfig(text, { file, directory: dirname(resolve(file)) });
}
