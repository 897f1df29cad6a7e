import { nearestName } from '../base/nearest-name.js';
import { showValue } from '../base/show-setting.js';
import { CONFIG_KEYS } from './config-keys.js';
import { type ConfigProblem, configInvalid } from './config-problem.js';

export interface EnvironmentSetting {
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

/** Names a configuration file, as `--config` does. */
export const CONFIG_VARIABLE = 'TOOLEXEC_CONFIG';

/** Of ours too, and no settings: what commands and tools are started with, and where errors come from. */
const OTHERS: readonly string[] = ['TOOLEXEC_CALL', 'TOOLEXEC_TOOL_MODE', 'TOOLEXEC_DEBUG'];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What environment variables set. An empty one sets nothing.
 * @throws ToolError `config_invalid` naming the variable.
 */
export function environmentSettings(env: Environment): EnvironmentSetting[] {
  const settings: EnvironmentSetting[] = [];
  const problems: ConfigProblem[] = [];
  for (const [variable, key] of KEYS) {
    const kind = CONFIG_KEYS[key]?.kind;
    const text = env[variable]?.trim() ?? '';
    if (kind === undefined || text === '') continue;
    const value = kind.fromText(text);
    for (const { problem } of kind.flaws(value)) {
      problems.push({ noun: 'the variable', source: variable, message: () => `${key}${problem}` });
    }
    settings.push({ key, value, variable });
  }
  if (problems.length > 0) throw configInvalid(problems);
  return settings;
}

/** A line for each variable that begins as ours do and means nothing: a slip would otherwise go unnoticed. */
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
