export type { HostOptions as AgentToolsOptions } from './hosts/host-approval.js';
export type { AgentTool } from './hosts/openai-agents.js';
export { agentTools } from './hosts/openai-agents-peer.js';
