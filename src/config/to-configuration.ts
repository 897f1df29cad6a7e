import { CONFIG_KEYS } from './config-keys.js';
import type { Configuration } from './configuration.js';

export interface SettingValue {
  /** Of `CONFIG_KEYS`. */
  readonly key: string;
  /** As in a file; one that the key accepts. */
  readonly value: unknown;
  /** Absolute: what relative paths in the value start from. */
  readonly directory: string;
}

/** Settings as options: what they name, and nothing else. */
export function toConfiguration(settings: readonly SettingValue[]): Configuration {
  const configuration: OptionTree = { executor: {}, run: {} };
  for (const { key, value, directory } of settings) {
    const known = CONFIG_KEYS[key];
    if (known === undefined) continue;
    setOption(configuration, known.option.split('.'), known.kind.toOption(value, directory));
  }
  // Every key's kind makes what its option takes: the table is the parse boundary.
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
