export type { McpServerOptions } from './mcp/create-mcp-server.js';
export type { McpClients, McpToolsOptions } from './mcp/mcp-tools.js';
export { createMcpServer, mcpTools } from './mcp/peer.js';
