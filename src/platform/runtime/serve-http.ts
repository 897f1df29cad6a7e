import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';

export interface HttpService {
  /** Of the socket: the port that it has got, where it was asked for any. */
  readonly port: number;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Its `signal` aborts when the client is gone. */
export type ServeRequest = (request: Request) => Promise<Response>;

export interface HttpLimits {
  /** How long a client may take to send a request, in milliseconds. Default: as long as it takes. */
  readonly receiveMs?: number;
  /** The maximum number of open connections; further ones are closed at once. Default: any number. */
  readonly connections?: number;
}

/** Serves HTTP at one address. @throws the operating system's error: the port is taken, the address is not of this machine */
export async function serveHttp(
  { host, port }: { readonly host: string; readonly port: number },
  fetch: ServeRequest,
  { receiveMs = 0, connections }: HttpLimits = {},
): Promise<HttpService> {
  // Node's own `Request` stays unchanged for the host program.
  const serverOptions = { connectionsCheckingInterval: 1_000, headersTimeout: 60_000 };
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false, serverOptions }) as Server;
  // The time for the request alone: an answer may take as long as its person does.
  server.requestTimeout = receiveMs;
  if (receiveMs > 0) server.headersTimeout = receiveMs;
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
