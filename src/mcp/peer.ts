import type { Server } from '@modelcontextprotocol/server';
import { loadPeer } from '../base/load-peer.js';
import type { Executor } from '../contract/executor.js';
import type { ToolSource } from '../contract/external.js';
import type { McpServerOptions } from './create-mcp-server.js';
import type { McpClients, McpToolsOptions } from './mcp-tools.js';

const [served, taken] = await loadPeer(
  'toolexec/mcp',
  { name: '@modelcontextprotocol/server', range: '^2.4.0' },
  () => Promise.all([import('./create-mcp-server.js'), import('./mcp-tools.js')]),
);

/**
 * Serves the tools of an executor over MCP, in the revisions 2026-07-28 and 2025-11-25. It is the official SDK's
 * server: connect a transport, or pass it to `serveStdio` or `createMcpHandler` in a factory. Closing it cancels its
 * calls and leaves the executor open.
 * @throws ToolError `config_invalid` for a wrong option, `unknown_tool`
 */
export const createMcpServer = (executor: Executor, options?: McpServerOptions): Server =>
  served.createMcpServer(executor, options);

/**
 * The tools of connected MCP clients, for `createExecutor({ tools: [builtinTools(), source] })`: planned, approved,
 * limited and recorded like every other tool. The source follows servers that report changes of their tools. The
 * clients still belong to the caller: closing them ends their calls.
 * @throws ToolError `config_invalid` for a wrong option or name; the error of a client that cannot list its tools
 */
export const mcpTools = (clients: McpClients, options: McpToolsOptions): Promise<ToolSource> =>
  taken.mcpTools(clients, options);
