import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { STREAMS } from './recorded-streams.js';

/**
 * Plays the providers in a separate process, so that its work is not counted: `/<name>…` streams a recorded
 * answer.
 */
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const stream = STREAMS.find(({ name }) => request.url?.startsWith(`/${name}/`));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream?.wire);
  });
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
