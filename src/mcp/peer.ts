import type { Server } from '@modelcontextprotocol/server';
import type { Executor } from '../contract/executor.js';
import { ToolError } from '../errors/tool-error.js';
import type { McpServerOptions } from './create-mcp-server.js';

/** The range is that of `package.json`. */
const PEER = { name: '@modelcontextprotocol/server', range: '^2.4.0' };

const loaded = await import('./create-mcp-server.js').catch((error: unknown) => {
  const { code } = error as { readonly code?: unknown };
  if (code !== 'ERR_MODULE_NOT_FOUND') throw error;
  const { name, range } = PEER;
  const message = `Cannot load toolexec/mcp: it needs ${name} ${range}. Install it: npm install ${name}@${range}`;
  throw new ToolError('config_invalid', message, { cause: error });
});

/**
 * Serves the tools of an executor over MCP, in the revisions 2026-07-28 and 2025-11-25. It is the official SDK's server:
 * connect a transport, or give it to `serveStdio` or `createMcpHandler` in a factory. Closing it cancels its calls and
 * leaves the executor open.
 * @throws ToolError `config_invalid` for a wrong option, `unknown_tool`
 */
export const createMcpServer = (executor: Executor, options?: McpServerOptions): Server =>
  loaded.createMcpServer(executor, options);
