export type { ClaudeAgent, ClaudeHook, ClaudePermission } from './hosts/claude-agent.js';
export { claudeAgent } from './hosts/claude-agent-peer.js';
export type { HostOptions as ClaudeAgentOptions } from './hosts/host-approval.js';
