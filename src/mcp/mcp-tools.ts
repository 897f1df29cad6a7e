import type { Client } from '@modelcontextprotocol/client';
import {
  isFilledText,
  isWhole,
  normalizeOptions,
  type OptionRules,
  option,
  requireMethod,
} from '../base/normalize-options.js';
import type { ToolSource } from '../contract/external.js';
import { ToolError } from '../errors/tool-error.js';
import { answerUpstream } from './answer-upstream.js';
import { GivenValues } from './given-values.js';
import { followList, listUpstreamTools } from './list-tools.js';
import { readPins } from './tool-pins.js';
import { requireServerName } from './upstream-names.js';
import { type Server, UpstreamSource } from './upstream-source.js';

export interface McpToolsOptions {
  /**
   * The server's name for people, rules and models: its tools are `NAME__tool`. Several clients in a
   * list are `NAME-1` and so on; in an object, the keys are the names.
   */
  readonly name?: string;
  /**
   * Whether the servers' statements about the effects of their tools are trusted. Default false: the effects are
   * unknown, and every call needs approval.
   */
  readonly trusted?: boolean;
  /**
   * Hides tools that are new or have changed since a person saw them. `trust`: the currently offered tools count as
   * seen. `ask`: a person must accept them with `toolexec mcp trust NAME`. False: nothing is hidden. Default `trust`.
   */
  readonly pins?: 'ask' | 'trust' | false;
  /** How long a call may be silent; progress restarts the time. Default 60000. */
  readonly timeoutMs?: number;
}

const RULES: OptionRules<{ [K in keyof McpToolsOptions]-?: McpToolsOptions[K] | undefined }> = {
  name: option(undefined, isFilledText, 'a text that is not empty'),
  trusted: option(undefined, (value) => typeof value === 'boolean', 'true or false'),
  pins: option(
    undefined,
    (value) => value === 'ask' || value === 'trust' || value === false,
    '"ask", "trust" or false',
  ),
  timeoutMs: option(undefined, isWhole(1), 'a whole number of milliseconds from 1'),
};

export type McpClients = Client | readonly Client[] | Readonly<Record<string, Client>>;

/**
 * The tools of connected MCP clients, for `createExecutor({ tools: [builtinTools(), source] })`: planned, approved,
 * limited and recorded like every other tool. The source follows servers that report changes of their tools. If a
 * client has declared elicitation and has no handler for it, its server's questions go to the executor's asker. The
 * clients still belong to the caller: closing them ends their calls.
 * @throws ToolError `config_invalid` for a wrong option or name; the error of a client that cannot list its tools
 */
export async function mcpTools(clients: McpClients, options: McpToolsOptions): Promise<ToolSource> {
  const normalized = normalizeOptions('options', options, RULES);
  const { trusted = false, pins = 'trust', timeoutMs = 60_000 } = normalized;
  const named = nameClients(clients, normalized.name);
  for (const [, client] of named) requireMethod('mcpTools()', client, 'callTool', 'a connected MCP client');
  const servers = named.map(([name, client]): Server => {
    requireServerName(name);
    return {
      upstream: { name, trusted, timeoutMs, client: async () => client, given: new GivenValues() },
      only: undefined,
      pins: pins === 'ask' ? (readPins(name) ?? new Map()) : undefined,
      unpinned: pins === false,
    };
  });
  await Promise.all(
    servers.map(async (server, at) => {
      const [, client] = named[at] as (typeof named)[number];
      server.offered = await listUpstreamTools(client, timeoutMs);
    }),
  );
  const source = new UpstreamSource(servers);
  for (const [at, [, client]] of named.entries()) {
    const server = servers[at] as Server;
    answerWhereItMay(client, server.upstream.name);
    followList(client, async () => {
      server.offered = await listUpstreamTools(client, timeoutMs);
      source.update();
    });
  }
  return source;
}

/** A client that asks the person itself, or has not declared elicitation, is unchanged. */
function answerWhereItMay(client: Client, server: string): void {
  try {
    client.assertCanSetRequestHandler('elicitation/create');
    answerUpstream(client, server);
  } catch {
    // The SDK reports this by throwing, and nothing was changed.
  }
}

function nameClients(clients: McpClients, name: string | undefined): readonly (readonly [string, Client])[] {
  const given = (why: string): string => {
    if (name !== undefined) return name;
    throw new ToolError('config_invalid', `Cannot name the tools of ${why}: give options.name.`);
  };
  if (isClient(clients)) return [[given('the client'), clients]];
  if (Array.isArray(clients))
    return clients.map((client, at) => [`${given('the clients')}-${at + 1}`, client as Client]);
  if (typeof clients !== 'object' || clients === null) return [['', clients]];
  return Object.entries(clients as Readonly<Record<string, Client>>);
}

function isClient(clients: McpClients): clients is Client {
  return typeof clients === 'object' && clients !== null && 'callTool' in clients;
}
