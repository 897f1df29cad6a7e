import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A web server of this machine, stopped when the test ends. */
export interface WebSite {
  readonly url: string;
  /** In the form of an option: `127.0.0.1:8080`. */
  readonly host: string;
  /** The requested paths, in order. */
  readonly paths: readonly string[];
  readonly requests: readonly IncomingMessage[];
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export async function serveSite(answer: Answer): Promise<WebSite> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.on('error', () => undefined);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    host,
    requests,
    get paths() {
      return requests.map(({ url = '' }) => url);
    },
  };
}

/** The same answer for every path except robots.txt, which does not exist. */
export function page(type: string, body: string | Uint8Array, headers: Record<string, string> = {}): Answer {
  return (request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': type, ...headers }).end(body);
  };
}
