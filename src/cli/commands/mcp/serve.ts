import { resolve } from 'node:path';
import type { Server } from '@modelcontextprotocol/server';
import { type ListenAddress, parseListen } from '../../../base/parse-listen.js';
import { quoteWord } from '../../../base/quote-word.js';
import type { Executor } from '../../../contract/executor.js';
import { isToolError } from '../../../errors/tool-error.js';
import { followDefinitions } from '../../../executor/declare/shown-definitions.js';
import type { McpServerOptions } from '../../../mcp/create-mcp-server.js';
import type { Gateway } from '../../../mcp/open-gateway.js';
import { systemClock } from '../../../platform/clock/clock.js';
import { isLoopback } from '../../../platform/runtime/admit-request.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { UsageError } from '../../cli-context.js';
import { createDisplay, type Display } from '../../display/display.js';
import { openStore } from '../../journal-store.js';
import { openExecutor } from '../../open-executor.js';
import { disposable, openMcpGateway, requireServers, withGatewayTools } from '../../open-mcp-gateway.js';
import { conversationName, readHostName } from '../../options.js';
import { requireUsable } from '../../recorded-journal.js';
import { resolveRun } from '../../resolve-settings.js';

/** The options of `mcp`, as commander passes them. */
interface ServeOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly journal?: string;
  readonly conversation?: string;
  readonly readOnly?: boolean;
  readonly tools?: string;
  readonly http?: string;
  readonly name?: readonly string[];
  readonly gateway?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Serves the tools to an MCP client on standard input and output, or to many over HTTP: contained, approved, recorded and undoable as ' +
        'usual. A client starts this command itself; docs/mcp.md has the lines for its configuration.',
    )
    .option(
      '--root <dir...>',
      'directories that tools may touch; the first is the working directory (default: .)',
    )
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'where calls and results are recorded; outside every root')
    .option(
      '--conversation <id>',
      'the conversation of the calls: within it, the same id is the same call (default: mcp/ and the client)',
      conversationName,
    )
    .option('--read-only', 'serve only tools that change nothing')
    .option('--tools <names>', 'serve only these tools, separated by commas')
    .option(
      '--http <[host:]port>',
      'serve many clients over HTTP instead, at http://HOST:PORT/mcp (HOST: 127.0.0.1), with a token',
    )
    .option('--name <host...>', 'with --http: other names under which clients or a proxy reach it')
    .option('--gateway', 'serve the tools of the servers in [mcp.servers.NAME] as well, as NAME__tool')
    .addHelpText(
      'before',
      `Examples:
  toolexec mcp
  toolexec mcp --root ~/project --read-only
  toolexec mcp --tools read_file,grep,glob
  toolexec mcp --http 8080
  claude mcp add toolexec -- toolexec mcp --root .
`,
    )
    .addHelpText(
      'after',
      '\nExit code: 0 the client has closed the connection; 2 wrong usage or configuration; 130 interrupted.\n',
    )
    .action(async (options: ServeOptions) => {
      finish(await serveMcp(options, context));
    });
};

/** `toolexec mcp`: one client until it closes the connection; with `--http` many, until a signal. */
async function serveMcp(options: ServeOptions, context: CliContext): Promise<ExitCode> {
  const { stdio, env } = context;
  const address = options.http === undefined ? undefined : readAddress(options.http);
  if (address === undefined && options.name !== undefined)
    throw new UsageError('Cannot use --name without --http: only clients over HTTP name a host.');
  const names = (options.name ?? []).map(readHostName);
  const resolved = resolveRun(options, context);
  const display = createDisplay(stdio.stderr, false, env);
  for (const note of resolved.notes) display.note(note);
  const { path, ...more } = resolved.executor.journal;
  await requireUsable(path, more);
  const journal = await openStore(path, { ...more, logger: resolved.executor.logger });
  try {
    const servers = options.gateway === true ? requireServers(resolved.mcp.servers) : undefined;
    await using gateway =
      servers === undefined
        ? undefined
        : disposable(await openMcpGateway({ servers }, resolved, context, display));
    const world = withGatewayTools({ ...resolved.executor, journal }, gateway);
    await using executor = await openExecutor(world);
    gateway?.followPins();
    const first = connectAfterList(gateway);
    const create = await serverOf(options, resolved.executor, path, first.listed);
    // Wrong options are found before a client waits for an answer.
    await create(executor).close();
    const connection =
      address === undefined
        ? await serveOneClient(() => create(executor), display, first.sent)
        : await serveManyClients(
            address,
            { executor, create, open: () => openExecutor(world), names },
            display,
          );
    const interrupted = await untilItEnds(connection, context);
    return interrupted ? 130 : 0;
  } finally {
    await journal.close();
  }
}

interface FirstList {
  /** Called before a client receives a list. */
  listed(): void;
  /** Called when a message to the one client was sent. */
  sent(): void;
}

/** How long an answer takes to be sent if its sending cannot be observed, in milliseconds. */
const ANSWER_MS = 100;

/**
 * Connects to the servers behind the gateway once a client has its first list. Until then the tools are those that a
 * person has seen. So the list waits neither for a server nor for the code that connects.
 */
function connectAfterList(gateway: Gateway | undefined): FirstList {
  let stage: 'before' | 'listed' | 'begun' = gateway === undefined ? 'begun' : 'before';
  const begin = (): void => {
    if (stage !== 'listed') return;
    stage = 'begun';
    void gateway?.connectAll();
  };
  return {
    listed() {
      if (stage !== 'before') return;
      stage = 'listed';
      systemClock.after(ANSWER_MS, begin);
    },
    sent: begin,
  };
}

type CreateServer = (executor: Executor) => Server;

async function serverOf(
  options: ServeOptions,
  { root }: ReturnType<typeof resolveRun>['executor'],
  journal: string,
  onListed: () => void,
): Promise<CreateServer> {
  const [{ createMcpServer }, { keptUndelivered }] = await Promise.all([
    import('../../../mcp/create-mcp-server.js'),
    import('../../../mcp/kept-undelivered.js'),
  ]);
  const place = {
    decideWith: decideWith(options, root),
    undelivered: keptUndelivered(`${journal}.mcp.json`),
    // The client asks its person in its own way.
    hidden: ['ask_user_question'],
    onListed,
  };
  const shown = serverOptions(options);
  return (executor) => {
    try {
      return createMcpServer(executor, shown, place);
    } catch (error) {
      if (isToolError(error, 'unknown_tool')) throw new UsageError(error.message, { cause: error });
      throw error;
    }
  };
}

interface Connection {
  /** If absent: only a signal ends it. */
  readonly ended?: Promise<void>;
  close(): Promise<void>;
}

async function serveOneClient(
  create: () => Server,
  display: Display,
  onSent: () => void,
): Promise<Connection> {
  const { serveOverStdio } = await import('../../../mcp/serve-stdio.js');
  return serveOverStdio(create, (problem) => display.note(problem.message), onSent);
}

interface ManyClients {
  /** For clients without sessions. */
  readonly executor: Executor;
  readonly create: CreateServer;
  /** Opens an executor for each session, so that its calls end with the session. */
  readonly open: () => Promise<Executor>;
  readonly names: readonly string[];
}

async function serveManyClients(
  { host, port }: ListenAddress,
  { executor, create, open, names }: ManyClients,
  display: Display,
): Promise<Connection> {
  const [{ serveOverHttp }, { httpToken }] = await Promise.all([
    import('../../../mcp/serve-http.js'),
    import('../../../mcp/own-secrets.js'),
  ]);
  const { path, token } = httpToken();
  try {
    const serving = await serveOverHttp({
      host,
      port,
      names,
      token,
      onChange: (listener) => followDefinitions(executor, listener),
      shared: () => create(executor),
      async open() {
        const own = await open();
        return { create: () => create(own), release: () => own.close() };
      },
      report: (problem) => display.note(problem.message),
    });
    display.note(`serving MCP at ${serving.url}`);
    display.note(`clients send the token in ${path} (Authorization: Bearer TOKEN)`);
    if (!isLoopback(host)) display.note(`${host} can be reached from other machines, without encryption`);
    return serving;
  } catch (error) {
    if (!isListenFailure(error)) throw error;
    throw new UsageError(`Cannot listen at ${host}:${port}: ${error.message}.`, { cause: error });
  }
}

function isListenFailure(error: unknown): error is Error {
  return (
    error instanceof Error && 'syscall' in error && /^(?:listen|bind|getaddrinfo)/.test(String(error.syscall))
  );
}

/** @throws UsageError */
function readAddress(given: string): ListenAddress {
  const address = parseListen(given);
  if (address !== undefined) return address;
  throw new UsageError(`Cannot use --http ${JSON.stringify(given)}: [HOST:]PORT is expected, such as 8080.`);
}

/** @returns whether a signal has ended it */
async function untilItEnds(connection: Connection, { stdio, exitNow }: CliContext): Promise<boolean> {
  let interrupted = false;
  let stop = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const forget = stdio.onEndSignal(() => {
    if (interrupted) exitNow(130);
    interrupted = true;
    stop();
  });
  await Promise.race([stopped, ...(connection.ended === undefined ? [] : [connection.ended])]);
  await connection.close();
  forget();
  return interrupted;
}

function serverOptions({ tools, readOnly, conversation }: ServeOptions): McpServerOptions {
  const names = tools?.split(',').map((name) => name.trim());
  if (names?.some((name) => name === ''))
    throw new UsageError(
      `Cannot use --tools ${JSON.stringify(tools)}: names of tools are expected, separated by commas.`,
    );
  if (conversation === '') throw new UsageError('Cannot use --conversation "": a name is expected.');
  return {
    ...(names === undefined ? {} : { tools: names }),
    ...(readOnly === undefined ? {} : { readOnly }),
    ...(conversation === undefined ? {} : { conversation }),
  };
}

/** The same journal and roots, whatever the person's working directory. */
function decideWith(
  { journal, config }: ServeOptions,
  roots: readonly string[],
): (batchId: string) => string {
  const more = [
    ['--root', ...roots.map((root) => resolve(root))],
    ...(journal === undefined ? [] : [['--journal', resolve(journal)]]),
    ...(config === undefined ? [] : [['--config', resolve(config)]]),
  ];
  const words = more.flat().map(quoteWord);
  return (batchId) => `toolexec approve ${batchId} ${words.join(' ')}`;
}
