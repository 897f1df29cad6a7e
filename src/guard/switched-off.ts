import { dirname, join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import type { JsonObject } from '../contract/json.js';
import {
  listIn,
  parseSettings,
  readIfThere,
  readSettings,
  type SettingsPlace,
  settingsFile,
} from './agent-settings.js';
import type { AgentName } from './agents.js';
import { isObject } from './document.js';

/** Why the agent runs no hooks of ours although the settings have them; undefined: no setting says so. @throws SettingsProblem */
export function switchedOff(place: SettingsPlace): string | undefined {
  const { file, value } = readSettings(place);
  for (const [name, settings] of [[file, value], ...settingsBeside(place)] as const) {
    const found = SWITCHES.find(({ agent, isOff }) => agent === place.agent && isOff(settings));
    if (found !== undefined) return `hooks are switched off (${found.key}) in "${name}"`;
  }
  return undefined;
}

type NamedSettings = readonly [file: string, settings: JsonObject];

/** Other files with settings that the agent obeys. It ignores a file that it cannot read. */
function settingsBeside(place: SettingsPlace): readonly NamedSettings[] {
  const { agent, env, isUsers } = place;
  const file = settingsFile(place);
  if (agent === 'codex') return readAll([join(dirname(file), 'config.toml'), ...MANAGED.codex], parseToml);
  const own = agent === 'claude-code' && !isUsers ? [file.replace(/\.json$/, '.local.json')] : [];
  const system = agent === 'gemini-cli' ? env.GEMINI_CLI_SYSTEM_SETTINGS_PATH : undefined;
  return readAll([...own, ...(system === undefined ? MANAGED[agent] : [system])], (text) =>
    parseSettings(text, agent),
  );
}

/** Of the administrator, on Linux and macOS. */
const MANAGED: Readonly<Record<AgentName, readonly string[]>> = {
  'claude-code': [
    '/etc/claude-code/managed-settings.json',
    '/Library/Application Support/ClaudeCode/managed-settings.json',
  ],
  codex: ['/etc/codex/requirements.toml', '/etc/codex/config.toml'],
  'gemini-cli': ['/etc/gemini-cli/settings.json', '/Library/Application Support/GeminiCli/settings.json'],
};

function readAll(files: readonly string[], parse: (text: string) => unknown): readonly NamedSettings[] {
  return files.flatMap((file): NamedSettings[] => {
    try {
      const text = readIfThere(file)?.replace(/^\uFEFF/, '');
      const value = text === undefined ? undefined : parse(text);
      return isObject(value) ? [[file, value]] : [];
    } catch {
      return [];
    }
  });
}

interface Switch {
  readonly agent: AgentName;
  readonly key: string;
  readonly isOff: (settings: JsonObject) => boolean;
}

const SWITCHES: readonly Switch[] = [
  { agent: 'claude-code', key: 'disableAllHooks', isOff: (settings) => settings.disableAllHooks === true },
  {
    agent: 'claude-code',
    key: 'allowManagedHooksOnly',
    isOff: (settings) => settings.allowManagedHooksOnly === true,
  },
  {
    agent: 'codex',
    key: 'allow_managed_hooks_only',
    isOff: (settings) => settings.allow_managed_hooks_only === true,
  },
  // An earlier name of the same key.
  ...['hooks', 'codex_hooks'].map(
    (key): Switch => ({
      agent: 'codex',
      key: `features.${key}`,
      isOff: (settings) => inner(settings, 'features')[key] === false,
    }),
  ),
  ...['hooksConfig', 'hooks'].flatMap((key): readonly Switch[] => [
    {
      agent: 'gemini-cli',
      key: `${key}.enabled`,
      isOff: (settings) => inner(settings, key).enabled === false,
    },
    {
      agent: 'gemini-cli',
      key: `${key}.disabled`,
      isOff: (settings) => listIn(inner(settings, key).disabled).includes('toolexec'),
    },
  ]),
];

function inner(settings: JsonObject, key: string): JsonObject {
  const found = settings[key];
  return isObject(found) ? found : {};
}
