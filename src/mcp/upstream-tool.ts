import type { CallToolRequestOptions, CallToolResult, Client } from '@modelcontextprotocol/client';
// Errors are known by their brand, whichever package made them: programs need only the server's.
import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/server';
import type { ToolContext } from '../contract/context.js';
import type { Effect } from '../contract/effect.js';
import type { JsonObject } from '../contract/json.js';
import type { Tool } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import { defineOwnTool } from '../executor/declare/define-tool.js';
import { plainDefinition } from './plain-definition.js';
import type { SeenTool } from './tool-pins.js';
import { upstreamName } from './upstream-names.js';
import { toToolOutput } from './upstream-result.js';

/** A server as its tools need it. */
export interface Upstream {
  readonly name: string;
  /** What its tools say of their effects is believed. */
  readonly trusted: boolean;
  /** Without a word of the server. Progress begins it again. */
  readonly timeoutMs: number;
  /** A connection that works. @throws ToolError where there is none */
  client(signal: AbortSignal): Promise<Client>;
}

/** The executor's own limit: what is waited for here, the connection decides. */
const LONGEST_MS = 24 * 3600 * 1000;

/** A tool of another server as one of ours: the same plan, approval, limits and record as every tool has. */
export function defineUpstreamTool(upstream: Upstream, seen: SeenTool): Tool {
  const { name: server, trusted } = upstream;
  const { title, description, inputSchema, outputSchema } = plainDefinition(seen);
  return defineOwnTool<JsonObject>({
    name: upstreamName(server, seen.name),
    ...(title === undefined ? {} : { title }),
    description:
      description === undefined || description.trim() === ''
        ? `${seen.name} of the MCP server ${server}.`
        : description,
    input: inputSchema as JsonObject,
    ...(outputSchema === undefined ? {} : { output: outputSchema as JsonObject }),
    category: 'external',
    timeoutMs: LONGEST_MS,
    ...(trusted ? { touches: ['call'] as const, effects: () => [effectOf(server, seen)] } : {}),
    summarize: () => `Call ${seen.name} of the MCP server ${server}`,
    async execute(args, ctx) {
      return toToolOutput(await callUpstream(upstream, seen.name, args, ctx));
    },
  });
}

/** As the specification has it where a hint is left out: it may destroy. */
function effectOf(server: string, { name: tool, annotations }: SeenTool): Effect {
  const { readOnlyHint = false, destructiveHint = true } = annotations ?? {};
  const access = readOnlyHint ? 'read' : destructiveHint ? 'destroy' : 'write';
  return { kind: 'call', server, tool, access };
}

async function callUpstream(
  upstream: Upstream,
  tool: string,
  args: JsonObject,
  ctx: ToolContext,
): Promise<CallToolResult> {
  const client = await upstream.client(ctx.signal);
  const options: CallToolRequestOptions = {
    signal: ctx.signal,
    timeout: upstream.timeoutMs,
    resetTimeoutOnProgress: true,
    // Without it no progress is sent, and nothing extends the time.
    onprogress: ({ progress, total, message }) => {
      void ctx.emit(message ?? `${progress}${total === undefined ? '' : `/${total}`}\n`);
    },
  };
  try {
    const _meta = { 'toolexec/callId': ctx.callId };
    return await client.callTool({ name: tool, arguments: { ...args }, _meta }, options);
  } catch (error) {
    if (ctx.signal.aborted) throw ctx.signal.reason;
    throw toFailure(error, upstream, tool);
  }
}

function toFailure(error: unknown, { name, timeoutMs }: Upstream, tool: string): unknown {
  const place = `${tool} of the MCP server ${name}`;
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    const message = `${place} did not answer for ${timeoutMs / 1000} s. It may have run.`;
    return new ToolError('timeout', message, { details: { executed: 'maybe', server: name } });
  }
  if (error instanceof ProtocolError) {
    const message = `${place}: ${error.message} (MCP error ${error.code})`;
    return new ToolError('execution_failed', message, { details: { server: name, mcp_code: error.code } });
  }
  if (error instanceof SdkError) {
    const message = `${place}: ${error.message}. It may have run.`;
    return new ToolError('execution_failed', message, { details: { executed: 'maybe', server: name } });
  }
  return error;
}
