/** Agents that call `toolexec hook`, by the names that commands take. */
export const AGENTS = ['claude-code', 'codex', 'gemini-cli'] as const;

export type AgentName = (typeof AGENTS)[number];

/** Files that start the hooks of agents, or switch them off. */
export const AGENT_SETTINGS: readonly string[] = [
  '**/.claude/settings{,.local}.json',
  '**/.codex/{config.toml,hooks.json}',
  '**/.gemini/settings.json',
];

export const AGENT_TITLES: Readonly<Record<AgentName, string>> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  'gemini-cli': 'Gemini CLI',
};

/** The time limit in the settings, in seconds. The agents run a call if its hook takes longer. */
export const SETTINGS_TIMEOUT_S = 60;

/** `toolexec hook` gives up after this many seconds, in time for its answer. */
export const HOOK_TIMEOUT_S = 50;
