export type { McpServerOptions } from './mcp/create-mcp-server.js';
export { createMcpServer } from './mcp/peer.js';
