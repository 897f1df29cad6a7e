import type { Server } from '@modelcontextprotocol/server';
import type { Executor } from '../contract/executor.js';
import type { ToolSource } from '../contract/external.js';
import { ToolError } from '../errors/tool-error.js';
import type { McpServerOptions } from './create-mcp-server.js';
import type { McpClients, McpToolsOptions } from './mcp-tools.js';

/** The range is that of `package.json`. */
const PEER = { name: '@modelcontextprotocol/server', range: '^2.4.0' };

const loaded = await Promise.all([import('./create-mcp-server.js'), import('./mcp-tools.js')]).catch(explain);
const [served, taken] = loaded;

function explain(error: unknown): never {
  const { code } = error as { readonly code?: unknown };
  if (code !== 'ERR_MODULE_NOT_FOUND') throw error;
  const { name, range } = PEER;
  const message = `Cannot load toolexec/mcp: it needs ${name} ${range}. Install it: npm install ${name}@${range}`;
  throw new ToolError('config_invalid', message, { cause: error });
}

/**
 * Serves the tools of an executor over MCP, in the revisions 2026-07-28 and 2025-11-25. It is the official SDK's server:
 * connect a transport, or give it to `serveStdio` or `createMcpHandler` in a factory. Closing it cancels its calls and
 * leaves the executor open.
 * @throws ToolError `config_invalid` for a wrong option, `unknown_tool`
 */
export const createMcpServer = (executor: Executor, options?: McpServerOptions): Server =>
  served.createMcpServer(executor, options);

/**
 * The tools of connected MCP clients, for `createExecutor({ tools: [builtinTools(), source] })`: planned, approved, limited and
 * recorded as every tool. The source follows the servers where they say that their tools have changed. The clients stay the
 * caller's: closing them ends their calls.
 * @throws ToolError `config_invalid` for a wrong option or name; what a client throws that cannot list its tools
 */
export const mcpTools = (clients: McpClients, options: McpToolsOptions): Promise<ToolSource> =>
  taken.mcpTools(clients, options);
