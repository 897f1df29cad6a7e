import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { systemClock } from '../platform/clock/clock.js';
import { bearerOf, foreignRequest, isSameSecret } from '../platform/runtime/admit-request.js';
import { type HttpService, serveHttp } from '../platform/runtime/serve-http.js';

/** A server and its resources, for one session. */
export interface Served {
  readonly create: () => Server;
  /** Ends everything that the session started. */
  release(): Promise<void>;
}

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  /** The names under which clients or a proxy reach the server, besides its address. */
  readonly names?: readonly string[];
  /** Every request must contain it. */
  readonly token: string;
  /** For clients of 2026-07-28, which have no sessions. */
  readonly shared: () => Server;
  /** For a session of 2025-11-25. */
  readonly open: () => Promise<Served>;
  /** Receives problems that no answer contains. */
  readonly report: (problem: Error) => void;
  /** Registers a callback for changes of the tools of `shared`, and returns the function that removes it. */
  readonly onChange?: (listener: () => void) => () => void;
  /** A session without requests ends after this time. Default 30 minutes. */
  readonly idleMs?: number;
}

export interface HttpServing {
  readonly url: string;
  /** The number of open sessions. */
  readonly sessions: number;
  close(): Promise<void>;
}

/** The maximum size of one request. */
const MOST_BYTES = 32 * 1024 * 1024;
const IDLE_MS = 30 * 60_000;
/**
 * A slow client may send its next request at the moment when an idle connection is closed, and loses it. So connections
 * stay open for longer than the pauses within an exchange.
 */
const IDLE_CONNECTION_MS = 120_000;
const MOST_SESSIONS = 1_000;
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
  const sessions = new Sessions(options);
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
  if (foreign !== undefined) return refusal(403, foreign);
  if (!isSameSecret(bearerOf(request), token)) return unauthorized();
  if (!PATHS.includes(new URL(request.url).pathname)) return refusal(404, 'MCP is served at /mcp.');
  if (Number(request.headers.get('content-length') ?? 0) > MOST_BYTES)
    return refusal(413, `A request has at most ${MOST_BYTES} bytes.`);
  if (await isLegacyRequest(request, undefined, { maxRequestBodySize: MOST_BYTES })) {
    return sessions.answer(request);
  }
  return modern.fetch(request);
}

function unauthorized(): Response {
  const headers = { 'www-authenticate': 'Bearer realm="toolexec"' };
  return refusal(401, 'Send the token: Authorization: Bearer TOKEN.', headers);
}

function refusal(status: number, message: string, more: Readonly<Record<string, string>> = {}): Response {
  const body = { jsonrpc: '2.0', id: null, error: { code: -32_000, message } };
  return Response.json(body, { status, headers: more });
}

interface Session {
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly served: Served;
  /** The number of requests in progress, including the stream for messages from the server. */
  open: number;
  stopWaiting: () => void;
}

/** The clients of revision 2025-11-25: everything that a client started ends with its session. */
class Sessions {
  readonly #options: HttpOptions;
  readonly #byId = new Map<string, Session>();

  constructor(options: HttpOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#byId.size;
  }

  async answer(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    const session = id === null ? undefined : this.#byId.get(id);
    // As specified: the client starts again with `initialize`.
    if (id !== null && session === undefined)
      return refusal(404, 'There is no such session, or it has ended.');
    return session === undefined ? this.#begin(request) : this.#ask(session, request);
  }

  /** A request without a session starts one if it is `initialize`; the transport refuses any other. */
  async #begin(request: Request): Promise<Response> {
    if (request.method !== 'POST') return refusal(400, 'Send the header Mcp-Session-Id.');
    if (this.#byId.size >= MOST_SESSIONS) return refusal(503, 'Too many sessions are open.');
    const served = await this.#options.open();
    const server = served.create();
    let begun: Session | undefined;
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => {
        begun = { server, transport, served, open: 0, stopWaiting: () => {} };
        this.#byId.set(id, begun);
      },
    });
    let isReleased = false;
    // Also called after a DELETE of the client.
    server.onclose = () => {
      if (isReleased) return;
      isReleased = true;
      if (transport.sessionId !== undefined) this.#byId.delete(transport.sessionId);
      begun?.stopWaiting();
      served.release().catch(this.#options.report);
    };
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    if (begun === undefined) await server.close();
    else this.#wait(begun);
    return response;
  }

  async #ask(session: Session, request: Request): Promise<Response> {
    session.stopWaiting();
    session.open += 1;
    const done = (): void => {
      session.open -= 1;
      if (session.open === 0) this.#wait(session);
    };
    try {
      const response = await session.transport.handleRequest(request);
      return whenRead(response, done);
    } catch (error) {
      done();
      throw error;
    }
  }

  #wait(session: Session): void {
    session.stopWaiting();
    // The request may have ended the session: a timer would keep all that it held.
    if (this.#byId.get(session.transport.sessionId ?? '') !== session) return;
    session.stopWaiting = systemClock.after(this.#options.idleMs ?? IDLE_MS, () => {
      void session.transport.close();
    });
  }

  async close(): Promise<void> {
    const open = [...this.#byId.values()];
    await Promise.all(open.map(({ transport }) => transport.close()));
    await Promise.all(open.map(({ served }) => served.release()));
  }
}

/** The same response; `done` is called once, when its body has ended or its reader has disconnected. */
function whenRead(response: Response, done: () => void): Response {
  if (response.body === null) {
    done();
    return response;
  }
  let isDone = false;
  const once = (): void => {
    if (isDone) return;
    isDone = true;
    done();
  };
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done: ended, value } = await reader.read();
      if (!ended) {
        controller.enqueue(value);
        return;
      }
      controller.close();
      once();
    },
    async cancel(reason) {
      once();
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
