export type { AiToolApproval, AiToolOutput, AiTools, AiToolsOptions } from './hosts/ai-sdk.js';
export { aiTools } from './hosts/ai-sdk-peer.js';
