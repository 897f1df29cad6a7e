import type { CallToolRequestOptions, CallToolResult, Client } from '@modelcontextprotocol/client';
// Errors are recognised by their brand, whichever package created them: programs need only the server package.
import { ProtocolError, SdkError } from '@modelcontextprotocol/server';
import type { ToolContext } from '../contract/context.js';
import type { Effect } from '../contract/effect.js';
import type { JsonObject } from '../contract/json.js';
import type { Tool, ToolAnnotations } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import { compiledTool, stateAnnotations } from '../executor/declare/compiled-tool.js';
import { defineOwnTool } from '../executor/declare/define-tool.js';
import { sanitize } from '../output/sanitize.js';
import { stateServer } from '../provenance/origin-of-call.js';
import { type AskingCall, whileAsking } from './answer-upstream.js';
import type { GivenValues } from './given-values.js';
import { hidesMore, isPlain, plainDefinition } from './plain-definition.js';
import { SilenceLimit } from './silence-limit.js';
import type { SeenTool } from './tool-pins.js';
import { addressesIn } from './upstream-address.js';
import { upstreamName } from './upstream-names.js';
import { problemIn, toToolOutput } from './upstream-result.js';

/** The view of a server that its tools need. */
export interface Upstream {
  readonly name: string;
  /** Whether the tools' statements about their effects are trusted. */
  readonly trusted: boolean;
  /** How long the server may be silent. Progress restarts the time. */
  readonly timeoutMs: number;
  /** A working connection. @throws ToolError if there is none */
  client(signal: AbortSignal): Promise<Client>;
  /** The secret values that the server received and must not repeat. */
  readonly given: GivenValues;
}

/** The executor's own limit. The connection decides how long to wait. */
const LONGEST_MS = 24 * 3600 * 1000;

/** Another server's tool as one of ours: planned, approved, limited and recorded like every other tool. */
export function defineUpstreamTool(upstream: Upstream, seen: SeenTool): Tool {
  const { name: server, trusted } = upstream;
  const json = JSON.stringify(seen);
  requireShort(json);
  // Most tools are plain, and a gateway may list a thousand before its client gets them.
  const plain = isPlain(json) ? seen : plainDefinition(seen);
  if (plain !== seen && hidesMore(plain)) throw new Error('its schema contains invisible characters.');
  const { description, inputSchema, outputSchema } = plain;
  const title = plain.title === undefined ? undefined : sanitize(plain.title, 'inline');
  const shownName = sanitize(seen.name, 'inline');
  const tool = defineOwnTool<JsonObject>({
    name: upstreamName(server, seen.name),
    ...(title === undefined ? {} : { title }),
    description:
      description === undefined || description.trim() === ''
        ? `${shownName} of the MCP server ${server}.`
        : description,
    input: inputSchema as JsonObject,
    ...(outputSchema === undefined ? {} : { output: outputSchema as JsonObject }),
    category: 'external',
    timeoutMs: LONGEST_MS,
    ...(trusted ? { touches: ['call'] as const, effects: () => [effectOf(server, seen)] } : {}),
    summarize: () => `Call ${shownName} of the MCP server ${server}`,
    async execute(args, ctx) {
      return toToolOutput(await callUpstream(upstream, seen.name, args, ctx), upstream.given);
    },
  });
  requireUsableSchemas(tool);
  stateServer(tool, server);
  if (trusted) stateAnnotations(tool, hintsOf(seen));
  return tool;
}

/** A model reads the whole definition with each request. */
const MOST_CHARACTERS = 100_000;

function requireShort({ length }: string): void {
  if (length > MOST_CHARACTERS)
    throw new Error(`it has ${length} characters, and at most ${MOST_CHARACTERS} are taken.`);
}

/**
 * Clients compile the schemas that they are shown, and fail with one that they cannot. A schema without references and
 * patterns is only read: it can be compiled. @throws ToolError `config_invalid`
 */
function requireUsableSchemas(tool: Tool): void {
  const { input, output } = compiledTool(tool);
  input.checkNow();
  output?.checkNow();
}

/** The defaults of the specification for missing hints: the tool may destroy data, and reach anything. */
function hintsOf({ annotations = {} }: SeenTool): ToolAnnotations {
  const {
    readOnlyHint = false,
    destructiveHint = true,
    idempotentHint = false,
    openWorldHint = true,
  } = annotations;
  return {
    readOnlyHint,
    destructiveHint: destructiveHint && !readOnlyHint,
    idempotentHint: idempotentHint || readOnlyHint,
    openWorldHint,
  };
}

function effectOf(server: string, seen: SeenTool): Effect {
  const { name: tool } = seen;
  const { readOnlyHint, destructiveHint } = hintsOf(seen);
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
  // One signal for both reasons: a signal that depends on others costs a tenth of the call.
  const abort = new AbortController();
  const silence = new SilenceLimit(upstream.timeoutMs, () => abort.abort(new Error('no answer')));
  const cancel = (): void => abort.abort(ctx.signal.reason);
  if (ctx.signal.aborted) cancel();
  ctx.signal.addEventListener('abort', cancel, { once: true });
  const options: CallToolRequestOptions = {
    signal: abort.signal,
    // `silence` limits the wait: the SDK's own limit would continue while a person is asked.
    timeout: LONGEST_MS,
    // Without this, the server sends no progress, and nothing extends the time.
    onprogress: ({ progress, total, message }) => {
      silence.heard();
      void ctx.emit(
        message === undefined
          ? `${progress}${total === undefined ? '' : `/${total}`}\n`
          : upstream.given.hide(message),
      );
    },
  };
  const asking: AskingCall = { ctx, whilePaused: (wait) => silence.whilePaused(wait) };
  try {
    const _meta = { 'toolexec/callId': ctx.callId, ...ctx.trace };
    const params = { name: tool, arguments: { ...args }, _meta };
    return await whileAsking(client, asking, () => client.callTool(params, options));
  } catch (error) {
    if (ctx.signal.aborted) throw ctx.signal.reason;
    throw silence.isOver ? timedOut(upstream, tool) : toFailure(error, upstream, tool);
  } finally {
    silence.end();
    ctx.signal.removeEventListener('abort', cancel);
  }
}

function timedOut({ name, timeoutMs }: Upstream, tool: string): ToolError {
  const message = `${tool} of the MCP server ${name} did not answer for ${timeoutMs / 1000} s. It may have run.`;
  return new ToolError('timeout', message, { details: { executed: 'maybe', server: name } });
}

function toFailure(error: unknown, { name, given }: Upstream, tool: string): unknown {
  const place = `${tool} of the MCP server ${name}`;
  if (error instanceof ProtocolError) {
    const addresses = addressesIn(error.data).map(({ href }) => href);
    const visit =
      addresses.length === 0 ? '' : ` The person has to open this first: ${addresses.join(' and ')}`;
    const message = `${place}: ${given.hide(error.message)} (MCP error ${error.code})${visit}`;
    return new ToolError('execution_failed', message, { details: { server: name, mcp_code: error.code } });
  }
  if (error instanceof SdkError) {
    const message = `${place}: ${given.hide(problemIn(error))}. It may have run.`;
    return new ToolError('execution_failed', message, { details: { executed: 'maybe', server: name } });
  }
  return error;
}
