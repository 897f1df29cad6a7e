export type { AiToolApproval, AiToolOutput, AiTools } from './hosts/ai-sdk.js';
export { aiTools } from './hosts/ai-sdk-peer.js';
export type { HostOptions as AiToolsOptions } from './hosts/host-approval.js';
