import { dirname, resolve } from 'node:path';
import { isFilledText } from '../base/normalize-options.js';
import type { ExecutorMode } from '../contract/executor.js';
import type { ToolDefinition } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import type { HardLinks } from '../files/sandbox-options.js';
import type { HookOptions } from '../hooks/hook-options.js';
import type { PolicyOptions } from '../policy/rules/policy-options.js';
import { CONFIG_KEYS } from './config-keys.js';
import type { McpServerSettings } from './mcp-servers.js';
import { readConfigFile } from './read-config-file.js';
import { readSettings } from './read-settings.js';

/** A configuration file as options. Only the settings in the file are present. */
export interface Configuration {
  /** For `createExecutor`. */
  readonly executor: ConfiguredOptions;
  /** For each run. */
  readonly run: { readonly parallel?: boolean };
  /** For `discoverTools(directories, { …options })`. */
  readonly external?: {
    /** Absolute. */
    readonly directories?: readonly string[];
    readonly trusted?: readonly string[];
    readonly watch?: boolean;
    readonly maxOutputBytes?: number;
    readonly versions?: Readonly<Record<string, string>>;
    /** Milliseconds. */
    readonly timeouts?: Readonly<Record<string, number>>;
    readonly maxConcurrent?: number | Readonly<Record<string, number>>;
    /** A threshold of 0 means no breaker. */
    readonly breaker?: { readonly threshold?: number; readonly cooldownMs?: number };
    /** False: each call has its own process. */
    readonly warm?: {
      readonly processes?: number;
      readonly maxCalls?: number;
      readonly idleMs?: number;
      readonly checkAfterMs?: number;
      readonly startMs?: number;
    };
  };
  /** For `toolexec mcp --gateway`, by name. */
  readonly mcp?: { readonly servers?: Readonly<Record<string, McpServerSettings>> };
  /** For `toolexec chat`. */
  readonly chat?: { readonly agentsFile?: boolean };
  /** For a journal in a file: `createExecutor({ …, journal: { path, ...journal } })`. */
  readonly journal?: {
    readonly onLoss?: 'warn' | 'refuse';
    readonly redactArguments?: boolean | readonly string[];
  };
}

export interface ConfiguredOptions {
  readonly mode?: ExecutorMode;
  /** Absolute. */
  readonly root?: readonly string[];
  readonly policy?: PolicyOptions;
  readonly sandbox?: {
    readonly deniedPatterns?: readonly string[];
    readonly deniedWritePatterns?: readonly string[];
    readonly allowAbsolute?: boolean;
    readonly includeDefaultDenies?: boolean;
    readonly os?: 'off' | 'preferred' | 'required';
    readonly externalTools?: 'off' | 'untrusted' | 'all';
    readonly network?: boolean;
    readonly readable?: readonly string[];
    readonly hardLinks?: HardLinks;
    readonly transactions?: 'auto' | 'off' | 'required';
    readonly maxTransactionMb?: number;
    readonly onTimeout?: 'discard' | 'keep';
    readonly onConflict?: 'rerun' | 'fail' | 'keep_rest';
    readonly exposePorts?: boolean;
  };
  readonly limits?: {
    readonly maxToolCallsPerBatch?: number;
    readonly maxToolIterationsPerUserTurn?: number;
    readonly maxToolArgsBytes?: number;
    readonly maxApplyPatchBytes?: number;
    readonly maxFileReadBytes?: number;
    readonly maxReadFileScanBytes?: number;
  };
  readonly commandLimits?: {
    readonly cpuSeconds?: number;
    readonly memoryMb?: number;
    readonly processes?: number;
    readonly fileSizeMb?: number;
  };
  /** Milliseconds. */
  readonly timeouts?: {
    readonly defaultMs?: number;
    readonly fileOperationsMs?: number;
    readonly shellCommandsMs?: number;
    readonly externalToolsMs?: number;
  };
  readonly output?: { readonly maxBytes?: number };
  /** The definitions for a model in mode `parse_only`. */
  readonly definitions?: readonly ToolDefinition[];
  readonly hooks?: HookOptions;
  /** For `builtinTools`. */
  readonly builtins?: {
    readonly bash?: { readonly approval?: 'before' | 'after' };
    readonly listDirectory?: {
      readonly maxEntries?: number;
      readonly maxDepth?: number;
      readonly includeHidden?: boolean;
      readonly includeFiles?: boolean;
      readonly includeDirs?: boolean;
      readonly includeSymlinks?: boolean;
      readonly includeOther?: boolean;
    };
  };
  readonly environment?: { readonly denylist?: readonly string[]; readonly pass?: readonly string[] };
}

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
