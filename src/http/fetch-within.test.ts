import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createConnection, createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ToolError } from '../errors/tool-error.js';
import { parseHostPattern } from '../patterns/host.js';
import { type PinnedRequest, sendRequest } from '../platform/runtime/send-request.js';
import { type FetchScope, fetchWithin, type Network } from './fetch-within.js';

/** Sends exactly the bytes of a test. */
async function serve(
  answer: (socket: Socket, request: string) => void,
): Promise<{ host: string; port: number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => answer(socket, bytes.toString('latin1')));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { host: `127.0.0.1:${port}`, port };
}

function scopeOf(...privateHosts: string[]): FetchScope {
  return {
    declares: () => true,
    undeclared: (shown) => new ToolError('sandbox_violation', shown),
    exceptions: privateHosts.map((host) => parseHostPattern(host, false)),
    signal: new AbortController().signal,
  };
}

/** A name server with the test's answers, one for each look-up. */
function names(
  ...answers: (readonly string[])[]
): Network & { readonly asked: string[]; readonly sent: PinnedRequest[] } {
  const asked: string[] = [];
  const sent: PinnedRequest[] = [];
  return {
    asked,
    sent,
    lookUp: async (host) => {
      asked.push(host);
      return answers[Math.min(asked.length, answers.length) - 1] ?? [];
    },
    send: (request) => {
      sent.push(request);
      return sendRequest(request);
    },
  };
}

const ok = (body: string | Buffer, ...headers: string[]): Buffer =>
  Buffer.concat([
    Buffer.from(['HTTP/1.1 200 OK', 'content-type: text/plain', ...headers, '', ''].join('\r\n')),
    Buffer.from(body),
  ]);

/** A blocked process whose queue of connections is full: the system drops every further attempt. */
async function listenWithoutAccepting(): Promise<number> {
  const code = `const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [bytes] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(bytes.toString());
  const waiting = Array.from({ length: 8 }, () => createConnection(port, '127.0.0.1'));
  onTestFinished(() => {
    for (const socket of waiting) socket.destroy();
    child.kill('SIGKILL');
  });
  for (const socket of waiting) socket.on('error', () => undefined);
  // The queue holds two: the others stay unconnected.
  await Promise.all([once(waiting[0] as Socket, 'connect'), once(waiting[1] as Socket, 'connect')]);
  return port;
}

async function failureOf(work: Promise<unknown>): Promise<ToolError> {
  return work.then(
    () => expect.fail('it did not fail'),
    (error: ToolError) => error,
  );
}

describe('fetchWithin()', () => {
  it('refuses a name if one of its addresses is not public, and sends nothing', async () => {
    const network = names(['93.184.216.34', '10.0.0.7']);
    const error = await failureOf(fetchWithin(scopeOf(), 'https://rebind.example/', {}, network));
    expect(error).toMatchObject({ code: 'url_blocked', details: { address: '10.0.0.7' } });
    expect(network.sent).toEqual([]);
  });

  it('connects to the addresses that were checked: a name that is resolved otherwise later changes nothing', async () => {
    const { port } = await serve((socket) => socket.end(ok('from the checked address', 'connection: close')));
    // The second answer would reach a client that asks again.
    const network = names(['127.0.0.1'], ['10.0.0.1']);
    const answer = await fetchWithin(
      scopeOf('rebind.example'),
      `http://rebind.example:${port}/`,
      {},
      network,
    );
    expect(await answer.text()).toBe('from the checked address');
    expect(network.asked).toEqual(['rebind.example']);
    expect(network.sent.map(({ addresses }) => addresses)).toEqual([['127.0.0.1']]);
  });

  it('hands credentials to no other origin that a redirect leads to, and keeps the other headers', async () => {
    const seen: string[] = [];
    const other = await serve((socket, request) => {
      seen.push(request);
      socket.end(ok('arrived', 'connection: close'));
    });
    const first = await serve((socket, request) => {
      seen.push(request);
      socket.end(`HTTP/1.1 307 Temporary\r\nlocation: http://${other.host}/\r\nconnection: close\r\n\r\n`);
    });
    const headers = { authorization: 'Bearer of-the-first', cookie: 'session=1', 'x-request': 'kept' };
    const answer = await fetchWithin(scopeOf(first.host, other.host), `http://${first.host}/`, { headers });
    expect(await answer.text()).toBe('arrived');
    expect(seen[0]).toMatch(/authorization: Bearer of-the-first/i);
    expect(seen[1]).not.toMatch(/authorization|cookie/i);
    expect(seen[1]).toMatch(/x-request: kept/i);
  });

  it('resolves and checks again for each redirect: a name that rebinds to this machine is refused', async () => {
    const { port } = await serve((socket) =>
      socket.end(
        `HTTP/1.1 302 Found\r\nlocation: http://rebind.example:${port}/secret\r\nconnection: close\r\n\r\n`,
      ),
    );
    const first = names(['93.184.216.34'], ['127.0.0.1']);
    const network: Network = {
      lookUp: first.lookUp,
      // The answer of a public host, served by this machine.
      send: (request) => sendRequest({ ...request, addresses: ['127.0.0.1'] }),
    };
    const error = await failureOf(fetchWithin(scopeOf(), `http://rebind.example:${port}/`, {}, network));
    expect(error).toMatchObject({ code: 'url_blocked', details: { address: '127.0.0.1' } });
    expect(first.asked).toEqual(['rebind.example', 'rebind.example']);
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(200_000_000))],
    ['br', brotliCompressSync(Buffer.alloc(50_000_000))],
  ])('stops a bomb compressed with %s at its limit, in little memory', async (encoding, bomb) => {
    const { host } = await serve((socket) =>
      socket.end(ok(bomb, `content-encoding: ${encoding}`, 'connection: close')),
    );
    const before = process.memoryUsage().rss;
    const answer = await fetchWithin(scopeOf(host), `http://${host}/`, { maxBytes: 1_000_000 });
    expect(await failureOf(answer.text())).toMatchObject({ code: 'too_large' });
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
  });

  it.each([
    ['with the header of zlib', deflateSync('inflated')],
    ['bug: without it, as many servers send it', deflateRawSync('inflated')],
  ])('reads "deflate" %s, in any pieces', async (_, bytes) => {
    const { host } = await serve((socket) => {
      socket.write(ok('', 'content-encoding: deflate', 'connection: close'));
      setTimeout(() => socket.write(bytes.subarray(0, 1)), 20);
      setTimeout(() => socket.end(bytes.subarray(1)), 40);
    });
    expect(await (await fetchWithin(scopeOf(host), `http://${host}/`)).text()).toBe('inflated');
  });

  it('bug: an answer to HEAD failed if its headers described a large or compressed body', async () => {
    const { host } = await serve((socket) =>
      socket.end(ok('', 'content-length: 99999999', 'content-encoding: gzip', 'connection: close')),
    );
    const answer = await fetchWithin(scopeOf(host), `http://${host}/`, { method: 'HEAD' });
    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([
      200,
      '99999999',
      '',
    ]);
  });

  it('bug: a server that switched to another protocol was waited for until the time was over', async () => {
    const { host } = await serve((socket) =>
      socket.end('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    );
    expect(await failureOf(fetchWithin(scopeOf(host), `http://${host}/`))).toMatchObject({
      code: 'fetch_failed',
      message: expect.stringContaining('the connection was cut'),
    });
  });

  it('ends an answer that never ends: by its bytes, and by its time', async () => {
    const endless = await serve((socket) => {
      socket.write(ok(''));
      const more = (): void => {
        if (!socket.destroyed) socket.write('x'.repeat(65_536), more);
      };
      more();
    });
    const answer = await fetchWithin(scopeOf(endless.host), `http://${endless.host}/`, { maxBytes: 300_000 });
    expect(await failureOf(answer.text())).toMatchObject({ code: 'too_large' });
    const drip = await serve((socket) => {
      socket.write(ok(''));
      const timer = setInterval(() => socket.write('x'), 20);
      socket.once('close', () => clearInterval(timer));
    });
    const slow = await fetchWithin(scopeOf(drip.host), `http://${drip.host}/`, { timeoutMs: 200 });
    expect(await failureOf(slow.text())).toMatchObject({ code: 'timeout' });
  });

  it('waits for no server that says nothing', async () => {
    const silent = await serve(() => undefined);
    const error = await failureOf(
      fetchWithin(scopeOf(silent.host), `http://${silent.host}/`, { timeoutMs: 100 }),
    );
    expect(error).toMatchObject({ code: 'timeout', message: expect.stringContaining('within 100 ms') });
  });

  it.each([
    ['is cut short of its length', ok('abc', 'content-length: 10'), 'the connection was cut'],
    ['says more than its length', ok('abcdef', 'content-length: 3', 'connection: close'), 'abc'],
    ['says a length that is none', ok('abc', 'content-length: many'), 'is not HTTP'],
    ['says two lengths', ok('abc', 'content-length: 1', 'content-length: 3'), 'is not HTTP'],
    ['says a length and chunks', ok('abc', 'content-length: 3', 'transfer-encoding: chunked'), 'is not HTTP'],
    ['is no HTTP', Buffer.from('SSH-2.0-OpenSSH_9.9\r\n'), 'is not HTTP'],
    ['is only a part of an HTTP/2 frame', Buffer.from([0, 0, 0, 4, 0]), 'is not HTTP'],
    [
      'answers twice',
      Buffer.concat([ok('abc', 'content-length: 3'), ok('second', 'content-length: 6')]),
      'abc',
    ],
    [
      'is not the gzip that it says',
      ok('plain', 'content-encoding: gzip'),
      'compressed answer cannot be read',
    ],
    ['is in an encoding of its own', ok('plain', 'content-encoding: secret'), 'is not known'],
    ['is compressed in two ways', ok('plain', 'content-encoding: gzip, br'), '"gzip, br" is not known'],
    ['names its charset as an encoding', ok('plain', 'content-encoding: UTF-8'), 'plain'],
    [
      'names an encoding that changes nothing',
      ok(gzipSync('zipped'), 'content-encoding: aws-chunked,gzip'),
      'zipped',
    ],
    [
      'has endless headers',
      ok('x', ...Array.from({ length: 3_000 }, (_, at) => `h${at}: ${'v'.repeat(40)}`)),
      'headers are too large',
    ],
    ['has a status that is none', Buffer.from('HTTP/1.1 999 No\r\nconnection: close\r\n\r\n'), 'status 999'],
    [
      'redirects to a text that is not a URL',
      Buffer.from('HTTP/1.1 301 Moved\r\nlocation: http://[\r\n\r\n'),
      'not a URL',
    ],
  ])('reads an answer that %s for what it is', async (_what, bytes, said) => {
    const { host } = await serve((socket) => socket.end(bytes));
    const outcome = await fetchWithin(scopeOf(host), `http://${host}/`, { timeoutMs: 5_000 })
      .then((answer) => answer.text())
      .catch((error: ToolError) => `${error.code} ${error.message}`);
    expect(outcome).toContain(said);
  });

  it.each(['cancelled unread', 'unread when the call ends'])(
    'a program did not end after a redirect: a body that is %s keeps neither its timer nor its connection',
    async (what) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const call = new AbortController();
      let isOpen = true;
      const close = (): void => {
        isOpen = false;
      };
      const network: Network = {
        lookUp: async () => ['93.184.216.34'],
        send: async ({ signal }) => {
          signal.addEventListener('abort', close);
          return { status: 200, statusText: 'OK', headers: [], body: Readable.from(['unread']), close };
        },
      };
      const scope = { ...scopeOf(), signal: call.signal };
      const answer = await fetchWithin(scope, 'https://example.com/', {}, network);
      expect(vi.getTimerCount()).toBe(1);
      if (what === 'cancelled unread') await answer.body?.cancel();
      else call.abort(new ToolError('cancelled', 'The call is answered.'));
      expect(vi.getTimerCount()).toBe(0);
      expect(isOpen).toBe(false);
    },
  );

  it('says that a proxy of the environment is not used, where no connection could be made', async () => {
    const network: Network = {
      lookUp: () => Promise.reject(Object.assign(new Error('no name'), { code: 'ENOTFOUND' })),
      send: sendRequest,
    };
    const hintFor = async () =>
      (await failureOf(fetchWithin(scopeOf(), 'https://name.example/', {}, network))).hint;
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'])
      vi.stubEnv(name, '');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await hintFor()).toBeUndefined();
    vi.stubEnv('http_proxy', 'http://me:sesame@proxy.example:3128');
    expect(await hintFor()).toBe(
      'http_proxy is set, but requests do not use it: addresses behind a proxy cannot be checked.',
    );
  });

  it.each([
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'no TLS connection could be made'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'it demands a certificate of its clients'],
  ])('bug: a failed TLS handshake was called something else: %s', async (code, said) => {
    const network: Network = {
      lookUp: async () => ['93.184.216.34'],
      send: () => Promise.reject(Object.assign(new Error('alert'), { code })),
    };
    const { message } = await failureOf(fetchWithin(scopeOf(), 'https://name.example/', {}, network));
    expect(message).toContain(said);
  });

  it.each([
    [
      'a chunk has no length',
      ok('zz\r\nhello\r\n', 'transfer-encoding: chunked'),
      'is not HTTP (HPE_INVALID_CHUNK_SIZE)',
    ],
    [
      'a chunk says too much',
      ok(`5;${'a'.repeat(20_000)}`, 'transfer-encoding: chunked'),
      'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    ],
  ])('bug: where %s, the connection was called cut', async (_, bytes, said) => {
    const { host } = await serve((socket) => socket.end(bytes));
    const answer = await fetchWithin(scopeOf(host), `http://${host}/`);
    expect((await failureOf(answer.text())).message).toContain(said);
  });

  it('bug: a control in the words of a status failed the request, and letters in UTF-8 were not read', async () => {
    const { host } = await serve((socket) =>
      socket.end('HTTP/1.1 404 Pas\x1b trouv\u00e9\r\ncontent-length: 0\r\n\r\n'),
    );
    const { status, statusText } = await fetchWithin(scopeOf(host), `http://${host}/`);
    expect([status, statusText]).toEqual([404, 'Pas trouvé']);
  });

  it.each(['http', 'https'])(
    'bug: a server that speaks only HTTP/2 was called one without HTTP or TLS: %s',
    async (scheme) => {
      const { onlyHttp2 } = await import('./fixtures/self-signed.js');
      const host = await onlyHttp2(scheme === 'https');
      const error = await failureOf(fetchWithin(scopeOf(host), `${scheme}://${host}/`));
      expect(error.message).toContain('it speaks only HTTP/2');
    },
  );

  it.runIf(process.platform === 'linux')(
    'bug: a host that drops packets held a request for all of its time',
    async () => {
      const port = await listenWithoutAccepting();
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const failing = failureOf(fetchWithin(scopeOf('127.0.0.1'), `http://127.0.0.1:${port}/`));
      // The timer is set as soon as the request is sent.
      await vi.waitUntil(() => vi.getTimerCount() === 2);
      vi.advanceTimersByTime(10_000);
      expect(await failing).toMatchObject({ code: 'fetch_failed', details: { reason: 'ETIMEDOUT' } });
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it('keeps users, passwords and queries out of its messages', async () => {
    const { host } = await serve((socket) => socket.destroy());
    const url = `http://${host}/path?token=sesame`;
    const cut = await failureOf(
      fetchWithin(scopeOf(host), url, { headers: { authorization: 'Bearer sesame' } }),
    );
    expect(cut).toMatchObject({ code: 'fetch_failed', message: expect.stringContaining('/path?…') });
    expect(JSON.stringify(cut)).not.toContain('sesame');
    const named = await failureOf(fetchWithin(scopeOf(host), `http://me:sesame@${host}/`));
    expect(JSON.stringify(named)).not.toContain('sesame');
    const header = await failureOf(
      fetchWithin(scopeOf(host), url, { headers: { 'x-key': 'sesame\n' + 'b: c' } }),
    );
    expect(JSON.stringify(header)).not.toContain('sesame');
  });

  it('sends methods, headers and bodies as fetch does; the host is its own to name', async () => {
    let received = '';
    const { host } = await serve((socket, request) => {
      received = request;
      socket.end(ok('done', 'connection: close'));
    });
    const headers = { 'x-own': 'yes', host: 'evil.example', 'transfer-encoding': 'chunked' };
    const answer = await fetchWithin(scopeOf(host), `http://${host}/p?q=1`, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ a: 'b c' }),
    });
    expect([await answer.text(), answer.status, answer.url]).toEqual(['done', 200, `http://${host}/p?q=1`]);
    expect(received).toMatch(/^POST \/p\?q=1 HTTP\/1.1\r\n/);
    expect(received).toContain(`host: ${host}\r\n`);
    expect(received).toContain('content-type: application/x-www-form-urlencoded;charset=UTF-8');
    expect(received).not.toMatch(/evil|transfer-encoding/);
    expect(received.endsWith('\r\n\r\na=b+c')).toBe(true);
  });

  it('bug: a body that never ends held a request beyond its time, and its signal', async () => {
    const { host } = await serve((socket) => socket.end(ok('x')));
    let cancelled = 0;
    const endless = () => new ReadableStream<Uint8Array>({ cancel: () => void cancelled++ });
    const request = (init: object) =>
      failureOf(fetchWithin(scopeOf(host), `http://${host}/`, { method: 'POST', body: endless(), ...init }));
    expect(await request({ timeoutMs: 20 })).toMatchObject({ code: 'timeout' });
    expect(await request({ signal: AbortSignal.timeout(20) })).toMatchObject({ code: 'cancelled' });
    expect(await request({ signal: AbortSignal.abort() })).toMatchObject({ code: 'cancelled' });
    expect(cancelled).toBe(3);
  });

  it('does not trust a certificate that no authority has signed', async () => {
    const { selfSigned } = await import('./fixtures/self-signed.js');
    const host = await selfSigned();
    const error = await failureOf(fetchWithin(scopeOf(host), `https://${host}/`));
    expect(error).toMatchObject({ code: 'fetch_failed', details: { reason: 'Certificate' } });
    expect(error.message).toContain('its certificate cannot be trusted');
  });
});
