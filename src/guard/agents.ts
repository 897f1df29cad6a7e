/** Agents that call `toolexec hook`, by the names that commands take. */
export const AGENTS = ['claude-code', 'codex', 'gemini-cli'] as const;

export type AgentName = (typeof AGENTS)[number];

export const AGENT_TITLES: Readonly<Record<AgentName, string>> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  'gemini-cli': 'Gemini CLI',
};
