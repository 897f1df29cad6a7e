import { dirname } from 'node:path';
import { nearestName } from '../base/nearest-name.js';
import { showValue } from '../base/show-setting.js';
import { CONFIG_KEYS } from './config-keys.js';
import { type ConfigProblem, configInvalid } from './config-problem.js';
import { readSettings } from './read-settings.js';

export type ConfigOrigin =
  | { readonly kind: 'flag' }
  | { readonly kind: 'environment'; readonly variable: string }
  | {
      readonly kind: 'file' | 'project' | 'user' | 'administrator';
      readonly file: string;
      readonly line: number;
    }
  | { readonly kind: 'default' };

export interface LayerSetting {
  /** In the file's notation; a valid value of the key. */
  readonly value: unknown;
  /** Absolute: the start of relative paths in the value. */
  readonly directory: string;
  /** The strongest first. */
  readonly origins: readonly ConfigOrigin[];
  /** The line of a list item in a file, even after other items were removed. */
  readonly lineOf?: (item: unknown) => number;
}

/** The settings of one source, by key. */
export type ConfigLayer = ReadonlyMap<string, LayerSetting>;

export const EMPTY_LAYER: ConfigLayer = new Map();

export interface LayerFile {
  readonly kind: 'file' | 'project' | 'user' | 'administrator';
  /** Absolute. */
  readonly file: string;
  readonly text: string;
  /** The name in messages. */
  readonly shown: string;
}

/** @throws ToolError `config_invalid` with file, line and column. */
export function fileLayer({ kind, file, text, shown }: LayerFile): ConfigLayer {
  const directory = dirname(file);
  return new Map(
    readSettings(text, shown).map(({ key, value, place }) => [
      key,
      {
        value,
        directory,
        origins: [{ kind, file, line: place().line }],
        lineOf: (item) => place([Array.isArray(value) ? value.indexOf(item) : 0]).line,
      },
    ]),
  );
}

/** @throws ToolError `config_invalid` with the variable's name. */
export function environmentLayer(
  env: Readonly<Record<string, string | undefined>>,
  directory: string,
): ConfigLayer {
  return new Map(
    environmentSettings(env).map(({ key, value, variable }) => [
      key,
      { value, directory, origins: [{ kind: 'environment', variable }] },
    ]),
  );
}

/** @throws ToolError `config_invalid` with the key. */
export function flagLayer(flags: Readonly<Record<string, unknown>>, directory: string): ConfigLayer {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  const problems: ConfigProblem[] = given.flatMap(([key, value]) =>
    flagProblems(key, value).map((problem) => ({
      noun: 'the options of',
      source: 'the command',
      message: () => `${key}${problem}`,
    })),
  );
  if (problems.length > 0) throw configInvalid(problems);
  return new Map(given.map(([key, value]) => [key, { value, directory, origins: [{ kind: 'flag' }] }]));
}

function flagProblems(key: string, value: unknown): readonly string[] {
  const known = Object.hasOwn(CONFIG_KEYS, key) ? CONFIG_KEYS[key] : undefined;
  return known === undefined ? [' is not known.'] : known.kind.flaws(value).map(({ problem }) => problem);
}

interface EnvironmentSetting {
  readonly key: string;
  readonly value: unknown;
  readonly variable: string;
}

/** `tools.approval.mode` → `TOOLEXEC_TOOLS_APPROVAL_MODE` */
export function variableOf(key: string): string {
  return `TOOLEXEC_${key.replaceAll('.', '_').toUpperCase()}`;
}

const KEYS: ReadonlyMap<string, string> = new Map(
  Object.keys(CONFIG_KEYS).map((key) => [variableOf(key), key]),
);

/** Names a configuration file, like `--config`. */
export const CONFIG_VARIABLE = 'TOOLEXEC_CONFIG';

/** Our other variables, which are not settings: for the start of commands and tools, and for debugging. */
const OTHERS: readonly string[] = ['TOOLEXEC_CALL', 'TOOLEXEC_TOOL_MODE', 'TOOLEXEC_DEBUG'];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The settings from environment variables. An empty one sets nothing.
 * @throws ToolError `config_invalid` with the variable's name.
 */
function environmentSettings(env: Environment): EnvironmentSetting[] {
  const settings: EnvironmentSetting[] = [];
  const problems: ConfigProblem[] = [];
  for (const [variable, key] of KEYS) {
    const kind = CONFIG_KEYS[key]?.kind;
    const text = env[variable]?.trim() ?? '';
    if (kind === undefined || text === '') continue;
    if (kind.fromText === undefined) {
      const message = () => `${key} has no variable. Write it in a toolexec.toml.`;
      problems.push({ noun: 'the variable', source: variable, message });
      continue;
    }
    const value = kind.fromText(text);
    for (const { problem } of kind.flaws(value)) {
      problems.push({ noun: 'the variable', source: variable, message: () => `${key}${problem}` });
    }
    settings.push({ key, value, variable });
  }
  if (problems.length > 0) throw configInvalid(problems);
  return settings;
}

/**
 * One line for each unknown variable with our prefix, because a misspelled one would otherwise have no
 * effect.
 */
export function unknownVariables(env: Environment): string[] {
  const known = [...KEYS.keys(), CONFIG_VARIABLE];
  return Object.keys(env)
    .filter((name) => name.startsWith('TOOLEXEC_') && env[name] !== undefined)
    .filter((name) => !known.includes(name) && !OTHERS.includes(name))
    .map((name) => {
      const nearest = nearestName(name, known);
      const remedy = nearest === undefined ? 'It sets nothing.' : `Did you mean ${nearest}?`;
      return `The variable ${showName(name)} is not known. ${remedy}`;
    });
}

function showName(name: string): string {
  return /^\w{1,100}$/.test(name) ? name : showValue(name);
}
