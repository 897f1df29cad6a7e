import { isInputRequiredResult, Server } from '@modelcontextprotocol/server';
import packageJson from '../../package.json' with { type: 'json' };
import {
  isFilledText,
  normalizeOptions,
  type OptionRules,
  option,
  requireMethod,
} from '../base/normalize-options.js';
import type { Executor } from '../contract/executor.js';
import { followDefinitions } from '../executor/declare/shown-definitions.js';
import { conversationOf, type Identity } from './attend-call.js';
import { CallServer } from './call-server.js';
import { clientOf } from './client-facts.js';
import { readOutput } from './read-output.js';
import { requestStates } from './request-state.js';
import { askingCallsOf } from './running-call.js';
import { createToolList } from './tool-list.js';
import { type UndeliveredCalls, undeliveredOf } from './undelivered-calls.js';

export interface McpServerOptions {
  /** The name of the server. Default `toolexec`. */
  readonly name?: string;
  /** Only these tools are served. @throws ToolError `unknown_tool` for a name that the executor does not have */
  readonly tools?: readonly string[];
  /** Only tools that change nothing are served. Default false. */
  readonly readOnly?: boolean;
  /**
   * The conversation of the calls: within it, a call with the same id is the same call, and is answered from the
   * journal. Default: `mcp/` and the name of the client.
   */
  readonly conversation?: string;
}

/** Additional facts from the command line. */
export interface ServedPlace {
  /** The command line that lets the person decide a waiting batch. */
  readonly decideWith?: (batchId: string) => string;
  /** Calls that were refused to a client, which may ask for them again in a later process. */
  readonly undelivered?: UndeliveredCalls;
  /** Tools that clients of this server cannot use. */
  readonly hidden?: readonly string[];
  /** Called before a client receives a list of the tools. */
  readonly onListed?: () => void;
}

const isNames = (value: unknown): boolean => Array.isArray(value) && value.every(isFilledText);

const RULES: OptionRules<{ [K in keyof McpServerOptions]-?: McpServerOptions[K] | undefined }> = {
  name: option(undefined, isFilledText, 'a text that is not empty'),
  tools: option(undefined, isNames, 'a list of names of tools'),
  readOnly: option(undefined, (value) => typeof value === 'boolean', 'true or false'),
  conversation: option(undefined, isFilledText, 'a text that is not empty'),
};

/** Revisions are dates. */
const FIRST_MODERN = '2026-07-28';

const INSTRUCTIONS =
  'Calls run under a policy: some need the approval of the person, and a call that was refused says what they can do. ' +
  'Every call is recorded, and runs at most once: repeating a call after a broken connection gives the recorded answer. ' +
  'Where output was too long, its whole text is a resource.';

/**
 * Serves the tools of an executor over MCP, in the revisions 2026-07-28 and 2025-11-25. It is the official SDK's
 * server: connect a transport, or pass it to `serveStdio` or `createMcpHandler` in a factory. Closing it cancels its
 * calls and leaves the executor open.
 * @throws ToolError `config_invalid` for a wrong option, `unknown_tool`
 */
export function createMcpServer(
  executor: Executor,
  options: McpServerOptions = {},
  place: ServedPlace = {},
): Server {
  requireMethod('createMcpServer()', executor, 'definitions', 'an executor');
  const { name = 'toolexec', conversation, ...shown } = normalizeOptions('options', options, RULES);
  const list = createToolList(executor, shown, place.hidden);
  const states = requestStates();
  const server: Server = new Server(
    { name, version: packageJson.version },
    {
      capabilities: { tools: { listChanged: true }, resources: {} },
      instructions: INSTRUCTIONS,
      requestState: { verify: states.verify },
      // Tools that are registered in a row are one change.
      debouncedNotificationMethods: ['notifications/tools/list_changed'],
    },
  );
  const identify: Identity = {
    conversation: conversation ?? ((client) => `mcp/${client}`),
    // For connections in the revision 2025-11-25; in later ones, every request contains these facts.
    legacyClient: () => ({ capabilities: server.getClientCapabilities(), info: server.getClientVersion() }),
    isModern: () => (server.getNegotiatedProtocolVersion() ?? '') >= FIRST_MODERN,
  };
  const calls = new CallServer({
    executor,
    list,
    identify,
    states,
    decideWith: place.decideWith ?? ((batchId) => `toolexec approve ${batchId}`),
    undelivered: place.undelivered ?? undeliveredOf(executor),
    asking: askingCallsOf(executor),
    connection: server,
  });
  const forget = followDefinitions(executor, () => {
    // Without a client, there is no one to notify.
    server.sendToolListChanged().catch(() => {});
  });
  server.onclose = () => {
    forget();
    calls.close();
  };
  server.setRequestHandler('tools/list', () => {
    place.onListed?.();
    return { tools: list.all() };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { answer, schema } = await calls.answer(params, context);
    return isInputRequiredResult(answer) ? answer : server.projectCallToolResult(answer, schema);
  });
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', ({ params }, context) =>
    readOutput(params.uri, executor, conversationOf(identify, clientOf(context, identify.legacyClient))),
  );
  return server;
}
