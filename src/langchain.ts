export type { HostOptions as LangChainToolsOptions } from './hosts/host-approval.js';
export type {
  LangChainAnswer,
  LangChainProgress,
  LangChainQuestion,
  LangChainTool,
} from './hosts/langchain.js';
export { langchainTools } from './hosts/langchain-peer.js';
