import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { builtinTools } from '../executor/builtin-tools.js';
import { createExecutor } from '../executor/create-executor.js';
import { defineTool } from '../executor/declare/define-tool.js';
import { createMcpServer } from './create-mcp-server.js';
import { ERAS, type Era, textOf } from './fixtures/connect.js';
import { httpToken } from './own-secrets.js';
import { type HttpOptions, serveOverHttp } from './serve-http.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolexec-mcp-http-'));
  writeFileSync(join(folder, 'a.txt'), 'hello\n');
  vi.stubEnv('XDG_STATE_HOME', join(folder, '..', `${folder}-state`));
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
  rmSync(`${folder}-state`, { recursive: true, force: true });
});

async function serve(more: Partial<HttpOptions> = {}) {
  const released: string[] = [];
  const executor = createExecutor({ root: folder, journal: false });
  const serving = await serveOverHttp({
    host: '127.0.0.1',
    port: 0,
    token: 'a-token-of-the-tests',
    shared: () => createMcpServer(executor),
    async open() {
      const own = createExecutor({ root: folder, journal: false });
      return {
        create: () => createMcpServer(own),
        async release() {
          await own.close();
          released.push('closed');
        },
      };
    },
    report: () => {},
    ...more,
  });
  onTestFinished(async () => {
    await serving.close();
    await executor.close();
  });
  return { serving, released };
}

async function connect(url: string, era: Era) {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: 'Bearer a-token-of-the-tests' } },
  });
  const client = new Client(
    { name: 'tests', version: '1.0.0' },
    { versionNegotiation: { mode: era === '2026-07-28' ? 'auto' : 'legacy' } },
  );
  await client.connect(transport);
  return { client, transport };
}

/** The status of a request without a token. `fetch` sets the header `Host` itself. */
function statusFor(url: string, host: string, origin?: string): Promise<number | undefined> {
  const { hostname, port } = new URL(url);
  const headers = { host, ...(origin === undefined ? {} : { origin }) };
  return new Promise((resolve, reject) => {
    request({ hostname, port, path: '/mcp', headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

const read = { name: 'read_file', arguments: { path: 'a.txt' } };

describe.each(ERAS)('MCP over HTTP in revision %s', (era) => {
  it('answers calls, and sends progress', async () => {
    const { serving } = await serve();
    const { client } = await connect(serving.url, era);
    expect(client.getNegotiatedProtocolVersion()).toBe(era);
    expect(textOf(await client.callTool(read))).toBe('hello\n');
    await client.close();
  });

  it('a request of more than 4 MB was refused, although 32 MB are allowed', async () => {
    const { serving } = await serve();
    const { client } = await connect(serving.url, era);
    const args = { path: 'a.txt', pattern: 'x'.repeat(5_000_000) };
    // The tool refuses it, and not the transport.
    expect(await client.callTool({ name: 'grep', arguments: args })).toMatchObject({ isError: true });
    await client.close();
  });

  async function answerTogether(count: number): Promise<void> {
    const { serving } = await serve();
    const clients = await Promise.all(Array.from({ length: count }, () => connect(serving.url, era)));
    const answers = await Promise.all(clients.map(({ client }) => client.callTool(read)));
    expect(answers.map(textOf)).toEqual(Array(count).fill('hello\n'));
    expect(serving.sessions).toBe(era === '2026-07-28' ? 0 : count);
    await Promise.all(clients.map(({ client }) => client.close()));
  }

  it('answers several clients at once', () => answerTogether(8), 60_000);

  it('answers 100 clients at once', { tags: ['soak'], timeout: 240_000 }, () => answerTogether(100));
});

describe('MCP over HTTP', () => {
  it('refuses requests without a token, and those of pages with another origin or host name', async () => {
    const { serving } = await serve();
    const status = async (headers: Record<string, string>, url = serving.url): Promise<number> => {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: 'Bearer a-token-of-the-tests',
          ...headers,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: {
            protocolVersion: '2025-11-25',
            capabilities: {},
            clientInfo: { name: 'x', version: '1' },
          },
        }),
      });
      await response.text();
      return response.status;
    };
    expect(await status({})).toBe(200);
    expect(await status({ origin: 'http://localhost:3000' })).toBe(200);
    expect(await status({ authorization: '' })).toBe(401);
    expect(await status({ authorization: 'Bearer a-token-of-the-testz' })).toBe(401);
    expect(await status({ origin: 'http://evil.test' })).toBe(403);
    expect(await status({ origin: 'null' })).toBe(403);
    expect(await status({}, serving.url.replace('/mcp', '/other'))).toBe(404);
    expect(await status({ 'mcp-session-id': 'gone' })).toBe(404);
    expect(await statusFor(serving.url, 'rebind.evil.test')).toBe(403);
    expect(await statusFor(serving.url, '192.168.7.7')).toBe(403);
  });

  it('a server at all addresses of the machine refused every client on another one', async () => {
    const { serving } = await serve({ host: '0.0.0.0', names: ['tools.example'] });
    const url = serving.url.replace('0.0.0.0', '127.0.0.1');
    // The request has no token.
    for (const host of [
      '192.168.7.7:8080',
      '[fe80::1]:8080',
      'tools.example',
      'TOOLS.example:443',
      'localhost',
    ])
      expect(await statusFor(url, host)).toBe(401);
    for (const host of ['rebind.evil.test', 'tools.example.evil.test', '192.168.7.7.evil.test'])
      expect(await statusFor(url, host)).toBe(403);
    expect(await statusFor(url, '192.168.7.7', 'http://evil.test')).toBe(403);
    expect(await statusFor(url, 'tools.example', 'https://tools.example')).toBe(401);
  });

  it('frees the resources of a session when it ends: by DELETE, or when idle', async () => {
    const { serving, released } = await serve({ idleMs: 300 });
    const first = await connect(serving.url, '2025-11-25');
    await first.transport.terminateSession();
    await first.client.close();
    await expect.poll(() => released.length).toBe(1);
    const second = await connect(serving.url, '2025-11-25');
    await second.client.close();
    await expect.poll(() => released.length).toBe(2);
    expect(serving.sessions).toBe(0);
  });

  it('a session that its client had ended was kept until its idle time was over', async () => {
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const { serving } = await serve();
    const before = timers();
    for (let time = 0; time < 5; time++) {
      const { client, transport } = await connect(serving.url, '2025-11-25');
      await transport.terminateSession();
      await client.close();
    }
    expect(serving.sessions).toBe(0);
    await expect.poll(timers).toBeLessThanOrEqual(before);
  });

  it('of two requests with one id, one got the answer of the other, and the other never got one', async () => {
    let finish = (): void => {};
    const wait = defineTool({
      name: 'wait',
      description: 'Waits.',
      input: { type: 'object' },
      effects: () => [],
      execute: () =>
        new Promise<string>((resolve) => {
          finish = () => resolve('waited');
        }),
    });
    const own = createExecutor({ root: folder, journal: false, tools: [builtinTools(), wait] });
    const open = async () => ({ create: () => createMcpServer(own), release: () => own.close() });
    const { serving } = await serve({ open });
    const { client, transport } = await connect(serving.url, '2025-11-25');
    const post = (id: unknown, method: string, params: object): Promise<Response> =>
      fetch(serving.url, {
        method: 'POST',
        headers: {
          authorization: 'Bearer a-token-of-the-tests',
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-session-id': transport.sessionId ?? '',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      });
    const first = post('a', 'tools/call', { name: 'wait', arguments: {} });
    await expect.poll(() => finish.name).toBe('finish');
    const second = await post('a', 'tools/call', read);
    expect([second.status, await second.text()]).toEqual([
      409,
      expect.stringContaining('The id \\"a\\" belongs'),
    ]);
    finish();
    expect(await (await first).text()).toContain('waited');
    // The id is free again, and a number is another id.
    expect(await (await post('a', 'tools/call', read)).text()).toContain('hello');
    await client.close();
  });

  it('a client that paused for five seconds lost its next request', async () => {
    const { serving } = await serve();
    const response = await fetch(serving.url);
    const [, seconds] = /timeout=(\d+)/.exec(response.headers.get('keep-alive') ?? '') ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(60);
  });

  it('makes a token that only its owner reads, and keeps it', () => {
    const { path, token } = httpToken();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(token.length).toBeGreaterThan(40);
    expect(httpToken().token).toBe(token);
    // A copy or a restored backup may be readable by other users.
    chmodSync(path, 0o644);
    expect(() => httpToken()).toThrow('chmod 600');
    chmodSync(path, 0o600);
    writeFileSync(path, 'x');
    expect(() => httpToken()).toThrow('Remove the file');
    rmSync(path);
    mkdirSync(path);
    expect(() => httpToken()).toThrow(/^Cannot use the secret in ".*mcp-token": /);
  });
});
