import { resolve } from 'node:path';
import type { McpServerSettings } from '../config/mcp-servers.js';
import { builtinTools } from '../executor/builtin-tools.js';
import { createSandbox } from '../files/create-sandbox.js';
import type { Gateway } from '../mcp/open-gateway.js';
import type { Pins } from '../mcp/tool-pins.js';
import { realPlace } from '../platform/fs/probe-place.js';
import { type CliContext, UsageError } from './cli-context.js';
import type { Display } from './display/display.js';
import type { OpenOptions } from './open-executor.js';
import type { ResolvedRun } from './resolve-settings.js';

export interface GatewayChoice {
  readonly servers: Readonly<Record<string, McpServerSettings>>;
  readonly pinsOf?: (name: string) => Pins | undefined;
}

/** The configured servers, contained like commands. @throws ToolError `config_invalid` */
export async function openMcpGateway(
  { servers, pinsOf }: GatewayChoice,
  { executor }: ResolvedRun,
  { version }: Pick<CliContext, 'version'>,
  display: Display,
): Promise<Gateway> {
  const { openGateway } = await import('../mcp/open-gateway.js');
  const { root, sandbox = {}, timeouts } = executor;
  const roots = root.map((path) => realPlace(resolve(path)));
  const { deniedPatterns, deniedWritePatterns, includeDefaultDenies, os = 'preferred' } = sandbox;
  const contained = createSandbox({
    roots: [...roots],
    ...(deniedPatterns === undefined ? {} : { deniedPatterns }),
    ...(deniedWritePatterns === undefined ? {} : { deniedWritePatterns }),
    ...(includeDefaultDenies === undefined ? {} : { includeDefaultDenies }),
  });
  return openGateway({
    servers,
    roots,
    os,
    version,
    guarded: () => contained.guarded?.('every') ?? { hidden: [], readOnly: [] },
    ...(pinsOf === undefined ? {} : { pinsOf }),
    ...(timeouts?.externalToolsMs === undefined ? {} : { timeoutMs: timeouts.externalToolsMs }),
    logger: { warn: (data, message) => display.note(describeWarning(data, message)) },
  });
}

function describeWarning(data: object, message: string): string {
  const {
    server,
    added = [],
    changed = [],
    why,
  } = data as {
    readonly server?: string;
    readonly added?: readonly string[];
    readonly changed?: readonly string[];
    readonly why?: string;
  };
  const names = [...added, ...changed].join(', ');
  const more = names === '' ? (why ?? '') : `${names}. Look at them: toolexec mcp trust ${server}`;
  return `${server}: ${message}${more === '' ? '' : `: ${more}`}`;
}

/**
 * The servers of the tools in these calls, for a command that continues calls of a gateway. Undefined: the calls use no
 * configured server.
 */
export async function gatewayOfCalls(
  calls: readonly { readonly toolName: string }[],
  resolved: ResolvedRun,
  context: Pick<CliContext, 'version'>,
  display: Display,
): Promise<(Gateway & AsyncDisposable) | undefined> {
  const { servers = {} } = resolved.mcp;
  const names = new Set(calls.map(({ toolName }) => toolName.split('__', 1)[0] ?? ''));
  const named = Object.entries(servers).filter(([name]) => names.has(name));
  if (named.length === 0) return undefined;
  return disposable(await openMcpGateway({ servers: Object.fromEntries(named) }, resolved, context, display));
}

export function disposable(gateway: Gateway): Gateway & AsyncDisposable {
  return { ...gateway, [Symbol.asyncDispose]: () => gateway.close() };
}

/** Adds the gateway's tools to the others. */
export function withGatewayTools<T extends Pick<OpenOptions, 'builtins'>>(
  world: T,
  gateway: Gateway | undefined,
): T & Pick<OpenOptions, 'tools'> {
  return gateway === undefined ? world : { ...world, tools: [builtinTools(world.builtins), gateway.source] };
}

export const NO_SERVERS =
  'No MCP server is configured: write [mcp.servers.NAME] in toolexec.toml, or run toolexec mcp import.';

/** @throws UsageError if no server is configured, or none has this name */
export function requireServers(
  configured: Readonly<Record<string, McpServerSettings>> = {},
  named?: string,
): Readonly<Record<string, McpServerSettings>> {
  const names = Object.keys(configured);
  if (names.length === 0) throw new UsageError(NO_SERVERS);
  if (named === undefined) return configured;
  const found = configured[named];
  if (found !== undefined) return { [named]: found };
  throw new UsageError(`There is no MCP server ${JSON.stringify(named)}. Configured: ${names.join(', ')}.`);
}
