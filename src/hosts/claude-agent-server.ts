import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type CallToolRequest,
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type ServerNotification,
  type ServerRequest,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import packageJson from '../../package.json' with { type: 'json' };
import type { BatchRun } from '../contract/executor.js';
import type { ToolDefinition } from '../contract/tool.js';
import { type Host, type HostCall, resultOf, startForHost } from './host-approval.js';
import { resultContent } from './result-content.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** Claude's own tools are off, so these tools are listed directly and not through its tool search. */
const ALWAYS_SHOWN = { 'anthropic/alwaysLoad': true };

/** The field in which Claude Code sends the id of the model's call. */
const CALL_ID = 'claudecode/toolUseId';

/** The sub-agents that make calls, by the ids of the calls. MCP does not say which agent makes a call. */
export type Callers = Map<string, string>;

/** The executor's tools as an MCP server in this process. A call that was not approved is answered with the reason. */
export function createHostServer(host: Host, name: string, callers: Callers): McpServer {
  const server = new McpServer({ name, version: packageJson.version }, { capabilities: { tools: {} } });
  // JSON Schemas are sent unchanged; the server's own way to declare tools accepts only Zod.
  server.server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: host.executor.definitions().map(toTool),
  }));
  server.server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
    call(params, extra, host, callers),
  );
  return server;
}

function toTool({ name, title, description, inputSchema, annotations }: ToolDefinition): Tool {
  return {
    name,
    description,
    ...(title === undefined ? {} : { title }),
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: { ...annotations },
    _meta: { ...ALWAYS_SHOWN },
  };
}

async function call(
  { name, arguments: args = {}, _meta }: CallToolRequest['params'],
  extra: Extra,
  host: Host,
  callers: Callers,
): Promise<CallToolResult> {
  const id = _meta?.[CALL_ID];
  const given: HostCall =
    typeof id === 'string' && id !== ''
      ? toHostCall(id, name, args, callers)
      : { id: `call_${extra.requestId}`, madeUp: true, name, args };
  const run = await startForHost(host, given, undefined, extra.signal);
  await report(run, _meta?.progressToken, extra);
  return { ...resultContent(await resultOf(run), 'mcp') };
}

export function toHostCall(id: string, name: string, args: unknown, callers: Callers): HostCall {
  const agent = callers.get(id);
  return { id, name, args, ...(agent === undefined ? {} : { agent }) };
}

/** Sends the output while the call runs. The result contains all of it too. */
async function report(
  { events }: BatchRun,
  progressToken: string | number | undefined,
  extra: Extra,
): Promise<void> {
  let progress = 0;
  for await (const event of events) {
    if (progressToken === undefined || (event.type !== 'stdout' && event.type !== 'stderr')) continue;
    progress += 1;
    const params = { progressToken, progress, message: event.chunk };
    // A client that disconnects has aborted the call.
    await extra.sendNotification({ method: 'notifications/progress', params }).catch(() => {});
  }
}
