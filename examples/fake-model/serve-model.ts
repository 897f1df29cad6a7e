// Plays the model's side of the wire on this machine, so that the examples with a provider's SDK need no key and no
// network. It understands nothing: each request is answered with the next of the prepared responses.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ServedModel {
  /** For the SDK's base URL. */
  readonly url: string;
  /** The bodies of the requests so far, as JSON text. */
  readonly requests: readonly string[];
  close(): void;
}

/** @param responses each an object for a whole response, or a list for a stream of server-sent events. */
export async function serveModel(responses: readonly object[]): Promise<ServedModel> {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const next = responses[requests.length];
    requests.push(await text(request));
    if (next === undefined) {
      response.writeHead(400).end('{"error":{"message":"There are no more responses."}}');
    } else if (Array.isArray(next)) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(next.map(toServerSentEvent).join(''));
    } else {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(next));
    }
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Providers whose events have a type repeat it as the name of the event. */
function toServerSentEvent(event: object): string {
  const name = 'type' in event && typeof event.type === 'string' ? `event: ${event.type}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
