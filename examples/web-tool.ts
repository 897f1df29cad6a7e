// A custom tool that calls a web service: ctx.http reaches the declared address and no other.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createExecutor, defineTool } from 'toolexec';

// A service of this machine, so that the example needs no network.
const server = createServer((_request, response) => response.end(JSON.stringify({ degrees: 21 })));
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

// #region tool
const weather = defineTool({
  name: 'weather',
  description: 'The weather in a town.',
  input: { type: 'object', required: ['town'], properties: { town: { type: 'string' } } },
  privateHosts: [host], // only because the service of this example is on this machine
  effects: ({ town }) => [{ kind: 'fetch', url: `http://${host}/?town=${encodeURIComponent(town)}` }],
  async execute({ town }, ctx) {
    const answer = await ctx.http(`http://${host}/?town=${encodeURIComponent(town)}`, { maxBytes: 10_000 });
    const { degrees } = (await answer.json()) as { degrees: number };
    return `${degrees} °C in ${town}`;
  },
});
// #endregion tool

const executor = createExecutor({ tools: [weather], approver: null });
const { output } = await executor.execute('weather', { town: 'Bern' });
console.log(output);
await executor.close();
server.close();
