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
