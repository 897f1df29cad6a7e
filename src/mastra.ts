export type { HostOptions as MastraToolsOptions } from './hosts/host-approval.js';
export type { MastraOutput, MastraQuestion } from './hosts/mastra.js';
export type { MastraTool } from './hosts/mastra-peer.js';
export { mastraTools } from './hosts/mastra-peer.js';
