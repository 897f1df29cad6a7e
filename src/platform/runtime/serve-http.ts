import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';

export interface HttpService {
  /** The address of the socket, including the assigned port if any port was allowed. */
  readonly port: number;
  /** Ends every connection. */
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
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false, serverOptions }) as Server;
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
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
