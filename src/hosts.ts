export type {
  AgentsContent,
  AiSdkContent,
  HostName,
  LangChainContent,
  MastraContent,
  McpContent,
} from './hosts/result-content.js';
export { resultContent } from './hosts/result-content.js';
