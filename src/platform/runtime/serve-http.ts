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

/** Serves HTTP at one address. @throws the operating system's error: the port is taken, the address is not of this machine */
export async function serveHttp(
  { host, port }: { readonly host: string; readonly port: number },
  fetch: ServeRequest,
): Promise<HttpService> {
  // Node's own `Request` stays unchanged for the host program.
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false }) as Server;
  // A call may take as long as its person does.
  server.requestTimeout = 0;
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
