import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
} from '@modelcontextprotocol/server';
import { bearerOf, foreignRequest, isSameSecret } from '../platform/runtime/admit-request.js';
import { type HttpService, serveHttp } from '../platform/runtime/serve-http.js';
import { httpRefusal, Sessions, type SessionsOptions } from './http-sessions.js';

export interface HttpOptions extends Omit<SessionsOptions, 'mostBytes'> {
  readonly host: string;
  readonly port: number;
  /** The names under which clients or a proxy reach the server, besides its address. */
  readonly names?: readonly string[];
  /** Every request must contain it. */
  readonly token: string;
  /** For clients of 2026-07-28, which have no sessions. */
  readonly shared: () => Server;
  /** Registers a callback for changes of the tools of `shared`, and returns the function that removes it. */
  readonly onChange?: (listener: () => void) => () => void;
}

export interface HttpServing {
  readonly url: string;
  /** The number of open sessions. */
  readonly sessions: number;
  close(): Promise<void>;
}

/** The maximum size of one request. */
const MOST_BYTES = 32 * 1024 * 1024;
/**
 * A slow client may send its next request at the moment when an idle connection is closed, and loses it. So connections
 * stay open for longer than the pauses within an exchange.
 */
const IDLE_CONNECTION_MS = 120_000;
const PATHS: readonly string[] = ['/mcp', '/'];

/**
 * Serves MCP over Streamable HTTP in both revisions. A request needs the token, a `Host` of this server, and, if a
 * browser sends it, an `Origin` of this machine.
 * @throws the operating system's error
 */
export async function serveOverHttp(options: HttpOptions): Promise<HttpServing> {
  const { host, port, shared, report } = options;
  const modern = createMcpHandler(shared, {
    legacy: 'reject',
    onerror: report,
    maxRequestBodySize: MOST_BYTES,
  });
  const sessions = new Sessions({ ...options, mostBytes: MOST_BYTES });
  const answer = (request: Request): Promise<Response> => route(request, options, modern, sessions);
  // Servers without sessions live for one request; those of sessions notify their clients themselves.
  const forget = options.onChange?.(() => modern.notify.toolsChanged());
  const service: HttpService = await serveHttp({ host, port }, answer, { idleMs: IDLE_CONNECTION_MS });
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${service.port}/mcp`,
    get sessions() {
      return sessions.count;
    },
    async close() {
      forget?.();
      await sessions.close();
      await modern.close();
      await service.close();
    },
  };
}

async function route(
  request: Request,
  { host, names, token }: HttpOptions,
  modern: McpHttpHandler,
  sessions: Sessions,
): Promise<Response> {
  const foreign = foreignRequest(request, host, names);
  if (foreign !== undefined) return httpRefusal(403, foreign);
  if (!isSameSecret(bearerOf(request), token)) return unauthorized();
  if (!PATHS.includes(new URL(request.url).pathname)) return httpRefusal(404, 'MCP is served at /mcp.');
  if (Number(request.headers.get('content-length') ?? 0) > MOST_BYTES)
    return httpRefusal(413, `A request has at most ${MOST_BYTES} bytes.`);
  if (await isLegacyRequest(request, undefined, { maxRequestBodySize: MOST_BYTES })) {
    return sessions.answer(request);
  }
  return modern.fetch(request);
}

function unauthorized(): Response {
  const headers = { 'www-authenticate': 'Bearer realm="toolexec"' };
  return httpRefusal(401, 'Send the token: Authorization: Bearer TOKEN.', headers);
}
