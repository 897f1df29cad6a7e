import type { Server, ServerResponse } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { systemClock } from '../clock/clock.js';

export interface HttpService {
  /** The address of the socket, including the assigned port if any port was allowed. */
  readonly port: number;
  /** Accepts no more requests, waits at most a second for the answers that are being sent, and ends every connection. */
  close(): Promise<void>;
}

/** Its `signal` aborts when the client disconnects. */
export type ServeRequest = (request: Request) => Promise<Response>;

export interface HttpLimits {
  /** How long a client may take to send a request, in milliseconds. Default: no limit. */
  readonly receiveMs?: number;
  /** How long a connection stays open without a request, in milliseconds. Default: that of Node, 5 seconds. */
  readonly idleMs?: number;
  /** The maximum number of open connections; further ones are closed immediately. Default: no limit. */
  readonly connections?: number;
}

/** How long a closing server waits for answers that are being sent, in milliseconds. */
const SENDING_MS = 1_000;

/** The status of an answer to a body that is too large. */
const TOO_LARGE = 413;
/** How long such a body is still received, in milliseconds. */
const DISCARDING_MS = 10_000;

/**
 * Serves HTTP at one address. @throws the operating system's error: the port is in use, or the address does not belong
 * to this machine
 */
export async function serveHttp(
  { host, port }: { readonly host: string; readonly port: number },
  fetch: ServeRequest,
  { receiveMs = 0, idleMs, connections }: HttpLimits = {},
): Promise<HttpService> {
  // Node's own `Request` stays unchanged for the host program.
  const serverOptions = { connectionsCheckingInterval: 1_000, headersTimeout: 60_000 };
  const server = createAdaptorServer({
    fetch: answerAfterBody,
    overrideGlobalObjects: false,
    serverOptions,
  }) as Server;
  // Limits only the request: an answer may take as long as a person needs.
  server.requestTimeout = receiveMs;
  if (receiveMs > 0) server.headersTimeout = receiveMs;
  if (idleMs !== undefined) server.keepAliveTimeout = idleMs;
  if (connections !== undefined) server.maxConnections = connections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  const sending = new Set<ServerResponse>();
  let sent = (): void => {};
  server.prependListener('request', (_request, answer) => {
    sending.add(answer);
    answer.once('close', () => {
      sending.delete(answer);
      if (sending.size === 0) sent();
    });
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await new Promise<void>((resolve) => {
        const stop = systemClock.after(SENDING_MS, resolve);
        sent = () => {
          stop();
          resolve();
        };
        if (sending.size === 0) sent();
      });
      server.closeAllConnections();
      await closed;
    },
  };

  async function answerAfterBody(request: Request): Promise<Response> {
    const answer = await fetch(request);
    if (answer.status === TOO_LARGE) await discardBody(request);
    return answer;
  }
}

/** Many clients read no answer before everything is sent, and the connection would be reset in the middle. */
async function discardBody({ body }: Request): Promise<void> {
  if (body === null || body.locked) return;
  const reader = body.getReader();
  const stop = systemClock.after(DISCARDING_MS, () => void reader.cancel().catch(() => {}));
  try {
    while (!(await reader.read()).done);
  } catch {
    // The client has disconnected.
  } finally {
    stop();
  }
}
