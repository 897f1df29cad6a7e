import { randomUUID } from 'node:crypto';
import {
  type RequestId,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { systemClock } from '../platform/clock/clock.js';

/** A server and its resources, for one session. */
export interface Served {
  readonly create: () => Server;
  /** Ends everything that the session started. */
  release(): Promise<void>;
}

export interface SessionsOptions {
  readonly open: () => Promise<Served>;
  /** Receives problems that no answer contains. */
  readonly report: (problem: Error) => void;
  /** A session without requests ends after this time. Default 30 minutes. */
  readonly idleMs?: number;
  /** The maximum size of one request. */
  readonly mostBytes: number;
}

const IDLE_MS = 30 * 60_000;
const MOST_SESSIONS = 1_000;

interface Session {
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly served: Served;
  /** The number of requests in progress, including the stream for messages from the server. */
  open: number;
  /** The ids of the requests that wait for an answer. */
  readonly ids: Set<RequestId>;
  stopWaiting: () => void;
}

/** The clients of revision 2025-11-25: everything that a client started ends with its session. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #byId = new Map<string, Session>();

  constructor(options: SessionsOptions) {
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
      return httpRefusal(404, 'There is no such session, or it has ended.');
    return session === undefined ? this.#begin(request) : this.#ask(session, request);
  }

  /** A request without a session starts one if it is `initialize`; the transport refuses any other. */
  async #begin(request: Request): Promise<Response> {
    if (request.method !== 'POST') return httpRefusal(400, 'Send the header Mcp-Session-Id.');
    if (this.#byId.size >= MOST_SESSIONS) return httpRefusal(503, 'Too many sessions are open.');
    const served = await this.#options.open();
    const server = served.create();
    let begun: Session | undefined;
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      maxRequestBodySize: this.#options.mostBytes,
      onsessioninitialized: (id) => {
        begun = { server, transport, served, open: 0, ids: new Set(), stopWaiting: () => {} };
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
    let ids: readonly RequestId[] = [];
    const done = (): void => {
      session.open -= 1;
      for (const id of ids) session.ids.delete(id);
      if (session.open === 0) this.#wait(session);
    };
    try {
      const parsedBody = await bodyOf(request);
      const asked = idsIn(parsedBody);
      const repeated = asked.find((id, at) => session.ids.has(id) || asked.indexOf(id) !== at);
      if (repeated !== undefined) {
        done();
        // The transport would send one answer to the other request, and none to this one.
        const id = JSON.stringify(repeated).slice(0, 80);
        return httpRefusal(409, `The id ${id} belongs to a request of this session that is still running.`);
      }
      ids = asked;
      for (const id of ids) session.ids.add(id);
      const response = await session.transport.handleRequest(request, { parsedBody });
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

/** Undefined: there is none, or the transport refuses it. */
async function bodyOf(request: Request): Promise<unknown> {
  if (request.method !== 'POST') return undefined;
  return request
    .clone()
    .json()
    .catch(() => undefined);
}

/** The ids of the requests in a body: an answer of the client has the id of a question of the server. */
function idsIn(body: unknown): readonly RequestId[] {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  return messages.flatMap((message) => {
    const { id, method } = (message ?? {}) as { readonly id?: unknown; readonly method?: unknown };
    return method !== undefined && (typeof id === 'string' || typeof id === 'number') ? [id] : [];
  });
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

export function httpRefusal(
  status: number,
  message: string,
  more: Readonly<Record<string, string>> = {},
): Response {
  const body = { jsonrpc: '2.0', id: null, error: { code: -32_000, message } };
  return Response.json(body, { status, headers: more });
}
