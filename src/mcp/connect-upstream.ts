import { resolve } from 'node:path';
import {
  Client,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { commandEnvironment } from '../commands/command-environment.js';
import { isWebAddress, type McpHeader, type McpServerSettings } from '../config/mcp-servers.js';
import { expandReferences } from '../config/server-references.js';
import type { GuardedPaths } from '../contract/files.js';
import type { Confinement } from '../contract/processes.js';
import { ToolError } from '../errors/tool-error.js';
import { askProgram } from '../platform/process/ask-program.js';
import { findProgram } from '../platform/process/find-program.js';
import { readEnvironment } from '../platform/runtime/environment.js';
import { answerUpstream } from './answer-upstream.js';
import type { GivenValues } from './given-values.js';
import { SpawnTransport } from './spawn-transport.js';

/** The files and the network that servers may use if they are programs. */
export interface GatewayWorld {
  /** Canonical; programs start in the first one. */
  readonly roots: readonly string[];
  readonly os: Confinement['os'];
  readonly guarded: () => Pick<GuardedPaths, 'hidden' | 'readOnly'>;
  readonly version: string;
}

export interface Connecting {
  readonly timeoutMs: number;
  /** Receives the values that the server gets. */
  readonly given: GivenValues;
  /** Ends a connection that is not established yet, and its program. */
  readonly signal: AbortSignal;
}

/**
 * Connects to a server, in the server's revision of the protocol.
 * @throws ToolError `config_invalid` for a missing header or variable, `spawn_failed`; errors of the SDK
 */
export async function connectUpstream(
  name: string,
  server: McpServerSettings,
  world: GatewayWorld,
  connecting: Connecting,
): Promise<Client> {
  try {
    return await connect(name, server, world, connecting, 'auto');
  } catch (error) {
    // Some servers of the older revision exit when they receive an unknown request.
    if (server.command === undefined || error instanceof ToolError || connecting.signal.aborted) throw error;
    return connect(name, server, world, connecting, 'legacy');
  }
}

async function connect(
  name: string,
  server: McpServerSettings,
  world: GatewayWorld,
  { timeoutMs, given, signal }: Connecting,
  mode: 'auto' | 'legacy',
): Promise<Client> {
  const client = new Client(
    { name: 'toolexec', version: world.version },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      listMaxPages: MOST_PAGES,
      versionNegotiation: { mode, probe: { timeoutMs: Math.min(timeoutMs, PROBE_MS) } },
    },
  );
  answerUpstream(client, name, given.hide);
  const transport = await transportOf(server, world, given);
  const end = (): Promise<void> => transport.close().catch(() => {});
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    await client.connect(transport, { timeout: timeoutMs });
    return client;
  } catch (error) {
    await end();
    if (!(error instanceof Error)) throw error;
    const said = transport instanceof SpawnTransport ? lastWords(given.hide(transport.errors)) : '';
    const more = said === '' ? whyUnreachable(error, server) : `It said: ${said}`;
    if (more === '') throw error;
    throw new Error(`${error.message.replace(/\.?$/, '.')} ${more}`, { cause: error });
  } finally {
    signal.removeEventListener('abort', end);
  }
}

const MOST_SAID = 500;

/** The end of a program's messages. The frames of a stack would leave no room for the message above them. */
function lastWords(errors: string): string {
  const lines = errors
    .trimEnd()
    .split('\n')
    .filter((line) => !/^\s+at /.test(line));
  let said = lines.pop() ?? '';
  for (const line of lines.reverse()) {
    if (line.length + said.length > MOST_SAID) break;
    said = `${line}\n${said}`;
  }
  return said.trim().slice(-MOST_SAID);
}

/** The SDK's limit for the pages of a list; its default is 64. */
const MOST_PAGES = 1_000;
const NOT_AUTHORIZED = 401;

/** What the person can do, or the system's own reason; empty: the error says it. */
function whyUnreachable(error: Error, { headers = {} }: McpServerSettings): string {
  if (error instanceof SdkHttpError && error.status === NOT_AUTHORIZED)
    return Object.keys(headers).length > 0
      ? 'It does not accept what its headers contain: check the token in the configuration.'
      : 'toolexec does not sign in (OAuth). Put a token into its headers, such as Authorization.';
  let cause: unknown = error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  return cause instanceof Error && cause !== error ? `${cause.message}.` : '';
}

/** A server that does not answer an unknown request uses the older revision. */
const PROBE_MS = 5_000;

async function transportOf(
  server: McpServerSettings,
  world: GatewayWorld,
  given: GivenValues,
): Promise<Transport> {
  const { command } = server;
  const expand = expanderOf(given);
  if (server.url !== undefined) {
    const url = expand(server.url, 'The address');
    if (!isWebAddress(url)) throw new ToolError('config_invalid', 'Its url is not an http or https address.');
    const headers = await headersOf(server.headers ?? {}, expand);
    given.add([url, ...Object.values(headers).flatMap(withCredentials)]);
    return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  }
  const [root = '/'] = world.roots;
  const cwd = server.cwd === undefined ? root : resolve(server.cwd);
  const env = environmentOf(server.env, expand);
  given.add(namesIn(server.env).map((name) => env[name] ?? ''));
  const file = command === undefined ? undefined : fileOf(expand(command, 'The command'), cwd);
  if (file === undefined) {
    const message = `Cannot start ${JSON.stringify(command)}: there is no such program on the path.`;
    throw new ToolError('spawn_failed', message, { details: { executed: 'no' } });
  }
  return new SpawnTransport({
    file,
    args: server.args?.map((arg) => expand(arg, 'An argument')) ?? [],
    cwd,
    env,
    confinement: {
      os: world.os,
      network: server.network === true,
      roots: world.roots,
      readable: server.cwd === undefined ? [] : [cwd],
    },
    guarded: world.guarded(),
  });
}

/** @throws ToolError `config_invalid` for a variable that is not set */
type Expand = (text: string, what: string) => string;

/** Replaces `${env:NAME}` when a connection starts. The values are hidden like all others that the server gets. */
function expanderOf(given: GivenValues): Expand {
  const environment = readEnvironment();
  return (text, what) => {
    try {
      return expandReferences(text, environment, (value) => given.add([value]));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new ToolError('config_invalid', `${what} of the server cannot be made: ${why}`, { cause: error });
    }
  };
}

function fileOf(command: string, cwd: string): string | undefined {
  return command.includes('/') ? resolve(cwd, command) : findProgram(command)[0];
}

/** The sanitized environment, with the variables that the configuration passes on or sets. */
function environmentOf(given: McpServerSettings['env'] = [], expand: Expand): Record<string, string> {
  const inherited = readEnvironment();
  if (!isNames(given)) {
    const made = Object.entries(given).map(([name, value]) => [name, expand(value, `The variable ${name}`)]);
    return { ...commandEnvironment(inherited), ...Object.fromEntries(made) };
  }
  const missing = given.find((name) => inherited[name] === undefined);
  if (missing !== undefined)
    throw new ToolError('config_invalid', `The variable ${missing} is to be passed on, and is not set.`);
  return commandEnvironment(inherited, { pass: given });
}

/** The variables that the configuration names: those of commands go to every server. */
function namesIn(given: McpServerSettings['env'] = []): readonly string[] {
  return isNames(given) ? given : Object.keys(given);
}

function isNames(given: NonNullable<McpServerSettings['env']>): given is readonly string[] {
  return Array.isArray(given);
}

async function headersOf(
  given: Readonly<Record<string, McpHeader>>,
  expand: Expand,
): Promise<Record<string, string>> {
  const read = Object.entries(given).map(
    async ([name, value]) => [name, await headerOf(name, value, expand)] as const,
  );
  return Object.fromEntries(await Promise.all(read));
}

/** A server may repeat `Bearer KEY` as `KEY` alone. */
function withCredentials(header: string): readonly string[] {
  const [, credentials] = /^\S+ +(\S+)$/.exec(header) ?? [];
  return credentials === undefined ? [header] : [header, credentials];
}

/** Read when a connection starts: a command may return a short-lived token. */
async function headerOf(name: string, value: McpHeader, expand: Expand): Promise<string> {
  if (typeof value === 'string') return expand(value, `The header ${name}`);
  if ('env' in value) {
    const found = readEnvironment()[value.env];
    if (found !== undefined) return found;
    throw new ToolError('config_invalid', `The header ${name} comes from ${value.env}, which is not set.`);
  }
  const [program = '', ...args] = value.command;
  const file = program.includes('/') ? program : findProgram(program)[0];
  const answer = file === undefined ? undefined : await askProgram(file, args, readEnvironment());
  if (answer?.ok === true) return answer.stdout.trim();
  const why = answer === undefined ? 'there is no such program' : answer.reason;
  throw new ToolError('config_invalid', `The header ${name} comes from ${JSON.stringify(program)}: ${why}.`);
}
