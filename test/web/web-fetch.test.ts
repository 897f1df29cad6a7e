import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { builtinTools, createExecutor } from '../../src/index.js';
import { systemClock } from '../../src/platform/clock/clock.js';
import { page, serveSite, type WebSite } from './web-site.js';

type WebOptions = NonNullable<Parameters<typeof builtinTools>[0]>;

function executorFor(site: WebSite | undefined, options: WebOptions['webFetch'] = {}) {
  const webFetch = { allowPrivate: site === undefined ? [] : [site.host], ...options };
  return createExecutor({ tools: builtinTools({ webFetch }), approver: null, journal: false });
}

const TYPE = (type: string) => ({ 'content-type': type });

describe('web_fetch', () => {
  it('gives a page as Markdown, without what a reader does not see (C046)', async () => {
    const body = `<html><head><title>A page</title><style>.inv,.x{display:none}</style></head><body><h1>Test Title</h1>
      <p>Test paragraph with <a href="/there">a link</a></p><p hidden>one</p><p style="color:red; display : none">two</p>
      <p class="big inv">three</p><!-- four --><script>five</script><p style="font-size:0px">six</p>
      <div style="position:absolute;left:-9999px">seven</div><template>eight</template></body></html>`;
    const site = await serveSite(page('text/html; charset=utf-8', body));
    const result = await executorFor(site).execute('web_fetch', { url: `${site.url}/`, prompt: 'extract' });
    expect(result).toMatchObject({
      success: true,
      output: `# Test Title\n\nTest paragraph with [a link](${site.url}/there)`,
      metadata: { status: 200, title: 'A page', format: 'markdown', hidden_elements: 5, url: `${site.url}/` },
    });
  });

  it.each([
    ['text', 'Title\n\none\ttwo'],
    ['raw', '<h1>Title</h1><table><tr><td>one</td><td>two</td></tr></table>'],
  ])('gives the format %s', async (format, output) => {
    const body = '<h1>Title</h1><table><tr><td>one</td><td>two</td></tr></table>';
    const site = await serveSite(page('text/html', body));
    const result = await executorFor(site).execute('web_fetch', { url: site.url, format });
    expect(result.output.trim()).toBe(output);
  });

  it('gives JSON and plain text as they are, decompressed, in their own character set', async () => {
    const site = await serveSite((request, response) => {
      if (request.url === '/json')
        return void response.setHeader('content-type', 'application/json').end('{"a":1}');
      if (request.url === '/latin') {
        return void response
          .setHeader('content-type', 'text/plain; charset=iso-8859-1')
          .end(Buffer.from([0xe9]));
      }
      response
        .writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
        .end(gzipSync('zip'));
    });
    const executor = executorFor(site, { respectRobots: false });
    const outputs = ['/json', '/latin', '/'].map((path) =>
      executor.execute('web_fetch', { url: site.url + path }),
    );
    expect((await Promise.all(outputs)).map(({ output }) => output)).toEqual(['{"a":1}', 'é', 'zip']);
  });

  it.each<[string, Record<string, string>, Buffer, string]>([
    [
      'in UTF-8 with a mark, and another charset',
      TYPE('text/plain; charset=latin1'),
      Buffer.from('\ufeffé'),
      'é',
    ],
    ['in UTF-16 without a mark', TYPE('text/plain; charset=utf-16le'), Buffer.from('é', 'utf16le'), 'é'],
    ['of a type that the server does not know', TYPE('application/octet-stream'), Buffer.from('# é'), '# é'],
    ['of a type that few know', TYPE('application/typescript'), Buffer.from('let a = 1;'), 'let a = 1;'],
    ['of a type of one vendor', TYPE('application/vnd.github.raw'), Buffer.from('# é'), '# é'],
    ['that is a drawing', TYPE('image/svg+xml'), Buffer.from('<svg/>'), '<svg/>'],
    [
      'that is empty, and named compressed',
      { ...TYPE('text/plain'), 'content-encoding': 'gzip' },
      Buffer.of(),
      '',
    ],
    [
      'that only leads to another page',
      TYPE('text/html'),
      Buffer.from('<head><meta http-equiv="refresh" content="0; url=\'/latest/?a=1&amp;b=2\'"></head>'),
      'The page shows no text, and leads to <site>/latest/?a=1&b=2',
    ],
  ])('bug: failed, or gave nothing readable, for text %s', async (_what, headers, body, output) => {
    const site = await serveSite(page(headers['content-type'] ?? '', body, headers));
    const result = await executorFor(site).execute('web_fetch', { url: site.url });
    expect(result.error).toBeUndefined();
    expect(result.output.replace(site.url, '<site>')).toBe(output);
  });

  it.each([
    ['application/octet-stream', Buffer.of(1, 2, 3, 200), 'its content is application/octet-stream'],
    ['application/octet-stream', Buffer.from('text\u0001'), 'its content is application/octet-stream'],
    ['application/zip', Buffer.from('text'), 'its content is application/zip'],
    ['application/pdf', Buffer.from('<p>Log in'), 'its content is not the application/pdf that it says'],
    ['image/png', Buffer.from('<p>Log in'), 'its content is not the image/png that it says'],
  ])('refuses %s that is no text, or not what it says', async (type, body, message) => {
    const site = await serveSite(page(type, body));
    const { error } = await executorFor(site).execute('web_fetch', { url: site.url });
    expect(error?.message).toContain(message);
  });

  it('bug: an address in UTF-8 that a redirect gave was read as Latin-1', async () => {
    const site = await serveSite((request, response) => {
      if (request.url !== '/') return page('text/plain', decodeURI(request.url ?? ''))(request, response);
      response.writeHead(302, { location: Buffer.from('/café').toString('latin1') }).end();
    });
    const { output } = await executorFor(site).execute('web_fetch', { url: site.url });
    expect(output).toBe('/café');
  });

  it('bug: a page of XHTML ended at its first tag that closes itself', async () => {
    const parts =
      '<script src="a.js"/><p hidden="">unseen</p><a id="x"/><textarea/><p>one</p><![CDATA[two]]>';
    const html = `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>${parts}</body></html>`;
    const site = await serveSite(page('application/xhtml+xml', html));
    const { output } = await executorFor(site).execute('web_fetch', { url: site.url, format: 'text' });
    expect(output).toBe('one\ntwo');
  });

  it('bug: a PDF with bytes before its mark was refused, and sound was called a picture', async () => {
    const late = await serveSite(page('application/pdf', '\n\n%PDF-1.7\n'));
    const pdf = await executorFor(late).execute('web_fetch', { url: late.url });
    expect(pdf).toMatchObject({ content: [{ mediaType: 'application/pdf' }] });
    const sound = await serveSite(page('application/octet-stream', 'RIFF\0\0\0\0WAVEfmt '));
    const { error } = await executorFor(sound).execute('web_fetch', { url: sound.url });
    expect(error).toMatchObject({ details: { reason: 'WrongType' } });
  });

  it('gives a PDF as content', async () => {
    const site = await serveSite(page('application/pdf', '%PDF-1.7\n'));
    const { content } = await executorFor(site).execute('web_fetch', { url: `${site.url}/a.pdf` });
    expect(content).toMatchObject([
      { type: 'resource', mediaType: 'application/pdf', uri: `${site.url}/a.pdf` },
    ]);
  });

  it('names the status of an error, and what an interface says of it', async () => {
    const site = await serveSite((request, response) => {
      const status = request.url === '/robots.txt' ? 404 : 500;
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"why":"x"}');
    });
    const result = await executorFor(site).execute('web_fetch', { url: site.url });
    expect(result).toMatchObject({ success: false, output: '{"why":"x"}', error: { code: 'fetch_failed' } });
    expect(result.error?.message).toContain('http error: 500 Internal Server Error');
    expect(result.metadata.robots).toBeUndefined();
  });

  it('says who asks', async () => {
    const site = await serveSite((request, response) => {
      response.setHeader('content-type', 'text/plain').end(request.headers['user-agent']);
    });
    const { output } = await executorFor(site).execute('web_fetch', { url: site.url });
    expect(output).toMatch(/^toolexec/);
  });

  it.each([
    [{}, 'url parameter is required'],
    [{ url: '' }, 'url parameter is required'],
    [{ url: 'https://example.com', format: 'pdf' }, 'format'],
  ])('refuses the arguments %j', async (args, message) => {
    const { error } = await executorFor(undefined).execute('web_fetch', args);
    expect(error).toMatchObject({ code: 'bad_args', message: expect.stringContaining(message) });
  });

  it.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.1:3000/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[64:ff9b::a00:1]/',
    'http://[64:ff9b:1::a00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:4136:e378::1]/',
    'http://[::127.0.0.1]/',
    'http://[fe80::1]/',
    'http://[fec0::1]/',
    'http://[fd00::1]/',
    'http://[ff02::1]/',
    'http://[2001:db8::1]/',
    'http://[3fff::1]/',
    'http://[5f00::1]/',
    'http://[4000::1]/',
    'http://[100::1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.1.2.3/',
    'http://172.31.0.1/',
    'http://192.168.1.1/',
    'http://100.64.0.1/',
    'http://0.0.0.0/',
    'http://192.0.0.1/',
    'http://198.18.0.1/',
    'http://203.0.113.1/',
    'http://224.0.0.1/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    'http://127。0。0。1/',
    'http://localhost/',
    'http://localhost./',
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'https://user:secret@example.com/',
    'http://example.com:25/',
  ])('blocks %s', async (url) => {
    const { error } = await executorFor(undefined).execute('web_fetch', { url });
    expect(error).toMatchObject({
      code: 'url_blocked',
      message: expect.stringMatching(/^failed to fetch url/),
    });
    expect(error?.message).not.toContain('secret');
  });

  it.each(['not a url', 'example.com', 'http://'])(
    'bug: %s, which is no address, was called a blocked one',
    async (url) => {
      const { error } = await executorFor(undefined).execute('web_fetch', { url });
      expect(error).toMatchObject({ code: 'bad_args', message: expect.stringContaining('it is not a URL') });
    },
  );

  it('reaches nothing of this machine but what the option names', async () => {
    const site = await serveSite(page('text/plain', 'mine'));
    const other = await serveSite(page('text/plain', 'other'));
    const executor = executorFor(site);
    expect((await executor.execute('web_fetch', { url: site.url })).output).toBe('mine');
    expect((await executor.execute('web_fetch', { url: other.url })).error?.code).toBe('url_blocked');
    expect(other.paths).toEqual([]);
    expect(() => builtinTools({ webFetch: { allowPrivate: ['*'] } })).toThrow(
      /privateHosts must be a list of hosts/,
    );
  });

  it('follows redirects of one site, at most ten, and checks each', async () => {
    const site = await serveSite((request, response) => {
      const { url = '' } = request;
      if (url === '/robots.txt') return void response.writeHead(404).end();
      const target: Record<string, string> = {
        '/once': '/there',
        '/metadata': 'http://169.254.169.254/latest/',
        '/decimal': 'http://2852039166/latest/',
        '/away': 'https://example.com/elsewhere?a=1',
        '/file': 'file:///etc/passwd',
      };
      if (url === '/there') return void response.setHeader('content-type', 'text/plain').end('arrived');
      response.writeHead(302, { location: target[url] ?? '/loop' }).end();
    });
    const executor = executorFor(site);
    const fetched = (path: string) => executor.execute('web_fetch', { url: `${site.url}${path}` });
    expect(await fetched('/once')).toMatchObject({
      output: 'arrived',
      metadata: { final_url: `${site.url}/there` },
    });
    expect((await fetched('/metadata')).error?.code).toBe('url_blocked');
    expect((await fetched('/decimal')).error?.code).toBe('url_blocked');
    expect((await fetched('/file')).error?.code).toBe('url_blocked');
    expect((await fetched('/away')).error).toMatchObject({
      code: 'fetch_failed',
      message: expect.stringContaining('https://example.com/elsewhere?a=1'),
      details: { redirect: 'https://example.com/elsewhere?a=1', executed: 'yes' },
    });
    expect((await fetched('/loop')).error?.message).toContain('too many redirects');
    expect(site.paths.filter((path) => path === '/loop')).toHaveLength(11);
  });

  it('does what robots.txt says, asked once, unless configured otherwise', async () => {
    const site = await serveSite((request, response) => {
      response.setHeader('content-type', 'text/plain');
      if (request.url === '/robots.txt') response.end('User-agent: *\nDisallow: /private/');
      else response.end('text');
    });
    const executor = executorFor(site);
    const refused = await executor.execute('web_fetch', { url: `${site.url}/private/a` });
    expect(refused.error).toMatchObject({ code: 'fetch_failed', details: { reason: 'Robots' } });
    expect((await executor.execute('web_fetch', { url: `${site.url}/public` })).success).toBe(true);
    expect(site.paths).toEqual(['/robots.txt', '/public']);
    const bold = executorFor(site, { respectRobots: false });
    expect((await bold.execute('web_fetch', { url: `${site.url}/private/a` })).success).toBe(true);
  });

  it('bug: a page was fetched although its server failed to give robots.txt', async () => {
    let isUp = false;
    const site = await serveSite((request, response) => {
      if (isUp || request.url !== '/robots.txt') page('text/plain', 'text')(request, response);
      else response.writeHead(503).end();
    });
    const executor = executorFor(site);
    const { error } = await executor.execute('web_fetch', { url: site.url });
    expect(error).toMatchObject({
      code: 'fetch_failed',
      message: expect.stringContaining('which counts as a refusal: http error: 503'),
      details: { reason: 'RobotsUnreachable', status: 503 },
    });
    expect(site.paths).toEqual(['/robots.txt']);
    isUp = true;
    expect((await executor.execute('web_fetch', { url: site.url })).output).toBe('text');
  });

  it('bug: robots.txt of a site was ignored after a redirect of another site had led to it', async () => {
    const strict = await serveSite((request, response) => {
      response.setHeader('content-type', 'text/plain');
      response.end(request.url === '/robots.txt' ? 'User-agent: *\nDisallow: /' : 'text');
    });
    const site = await serveSite((request, response) => {
      if (request.url === '/robots.txt') response.writeHead(404).end();
      else response.writeHead(302, { location: `${strict.url}/page` }).end();
    });
    const executor = executorFor(site, { allowPrivate: [site.host, strict.host] });
    const away = await executor.execute('web_fetch', { url: site.url });
    expect(away.error?.details).toMatchObject({ redirect: `${strict.url}/page` });
    const refused = await executor.execute('web_fetch', { url: `${strict.url}/page` });
    expect(refused.error).toMatchObject({ code: 'fetch_failed', details: { reason: 'Robots' } });
    expect(strict.paths).toEqual(['/robots.txt']);
  });

  it.each(['application/octet-stream', 'text/html; charset=utf-8', 'text/x-robots'])(
    'bug: a robots.txt of the type %s was ignored',
    async (type) => {
      const site = await serveSite((request, response) => {
        if (request.url !== '/robots.txt') return page('text/plain', 'text')(request, response);
        response.writeHead(200, { 'content-type': type }).end('User-agent: *\nDisallow: /\n');
      });
      const { error } = await executorFor(site).execute('web_fetch', { url: site.url });
      expect(error).toMatchObject({ details: { reason: 'Robots' } });
    },
  );

  it('reads no rules in a page that says "not found" with status 200', async () => {
    const site = await serveSite((request, response) => {
      if (request.url !== '/robots.txt') return page('text/plain', 'text')(request, response);
      response.writeHead(200).end('\n<!doctype html><pre>\nUser-agent: *\nDisallow: /\n</pre>');
    });
    expect((await executorFor(site).execute('web_fetch', { url: site.url })).output).toBe('text');
  });

  it('bug: a long robots.txt was ignored; its first 512 KiB count', async () => {
    const site = await serveSite((request, response) => {
      response.setHeader('content-type', 'text/plain');
      if (request.url !== '/robots.txt') return void response.end('text');
      const filler = '# nothing\n'.repeat(60_000);
      response.end(`\ufeffUser-agent: *\nDisallow: /first/\n${filler}Disallow: /last/\n`);
    });
    const executor = executorFor(site);
    const fetched = (path: string) => executor.execute('web_fetch', { url: `${site.url}${path}` });
    expect((await fetched('/first/')).error).toMatchObject({ details: { reason: 'Robots' } });
    expect((await fetched('/last/')).output).toBe('text');
  });

  it('bug: a robots.txt that is made to take time blocked the program for seconds', async () => {
    const site = await serveSite((request, response) => {
      response.setHeader('content-type', 'text/plain');
      if (request.url === '/robots.txt') response.end(`User-agent: *\nDisallow: /*${'a*'.repeat(10_000)}`);
      else response.end('text');
    });
    const url = `${site.url}/${'a'.repeat(7_000)}b`;
    expect(await executorFor(site).execute('web_fetch', { url })).toMatchObject({
      output: 'text',
      metadata: { robots: 'unknown' },
    });
  });

  it('bug: an error that is a page of XHTML was given with its invisible parts', async () => {
    const site = await serveSite((_request, response) => {
      response.writeHead(404, { 'content-type': 'application/xhtml+xml' }).end('<p hidden="">unseen</p>');
    });
    const executor = executorFor(site, { respectRobots: false });
    expect((await executor.execute('web_fetch', { url: site.url })).output).toBe('');
  });

  it.each([
    ["text/plain; charset='iso-8859-1'", '\xe9', 'é'],
    ['text/xml', '<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe9</a>', '<a>é</a>'],
    ['text/html', '<meta charset="utf-16"><p>text</p>', 'text'],
    [
      'text/html',
      `<script>${'x'.repeat(5_000)}</script><meta charset="koi8-r"><p>\xd4\xc5\xcb\xd3\xd4</p>`,
      'текст',
    ],
    ['text/html', '<p>caf\xe9 \x96 na\xefve</p>', 'café – naïve'],
    ['text/plain; charset=iso-8859-1', '\x93quoted\x94', '“quoted”'],
    ['text/html', `<p>${Buffer.from('é and ').toString('latin1')}\xe9</p>`, 'é and \ufffd'],
  ])('bug: the character set of %s was not read: %s', async (type, body, text) => {
    const site = await serveSite(page(type, Buffer.from(body, 'latin1')));
    const { output } = await executorFor(site, { respectRobots: false }).execute('web_fetch', {
      url: site.url,
    });
    expect(output).toContain(text);
  });

  it('bug: robots.txt was not asked about the address that a redirect leads to', async () => {
    const site = await serveSite((request, response) => {
      response.setHeader('content-type', 'text/plain');
      if (request.url === '/robots.txt') response.end('User-agent: *\nDisallow: /private/');
      else if (request.url === '/open') response.writeHead(302, { location: '/private/a' }).end();
      else response.end('text');
    });
    const refused = await executorFor(site).execute('web_fetch', { url: `${site.url}/open` });
    expect(refused.error).toMatchObject({ code: 'fetch_failed', details: { reason: 'Robots' } });
    expect(site.paths).toEqual(['/robots.txt', '/open']);
  });

  it('refuses what is too large, and what is no text', async () => {
    const site = await serveSite((request, response) => {
      const { url = '' } = request;
      if (url === '/big') response.setHeader('content-type', 'text/plain').end('x'.repeat(2_000_000));
      else if (url === '/zip') response.setHeader('content-type', 'application/zip').end('PK');
      else if (url === '/lie') response.setHeader('content-type', 'text/html').end(Buffer.alloc(100));
      else response.writeHead(404).end();
    });
    const executor = executorFor(site);
    const fetched = (path: string, args = {}) =>
      executor.execute('web_fetch', { url: site.url + path, ...args });
    expect((await fetched('/big')).error?.code).toBe('too_large');
    expect((await fetched('/big', { max_bytes: 9_000_000 })).error?.code).toBe('too_large');
    expect((await fetched('/zip')).error).toMatchObject({
      code: 'fetch_failed',
      details: { reason: 'WrongType' },
    });
    expect((await fetched('/lie')).error?.message).toContain('not the text/html that it says');
    expect((await fetched('/zip', { max_bytes: 1 })).error?.code).toBe('too_large');
  });

  it('is over in its time, and closes the connection', async () => {
    let closed = false;
    const site = await serveSite((request, response) => {
      if (request.url === '/robots.txt') return void response.writeHead(404).end();
      request.socket.once('close', () => {
        closed = true;
      });
      response.writeHead(200, { 'content-type': 'text/plain' }).write('begun');
    });
    const started = performance.now();
    const { error } = await executorFor(site, { timeoutMs: 300 }).execute('web_fetch', { url: site.url });
    expect(error).toMatchObject({ code: 'timeout', details: { executed: 'maybe' } });
    expect(performance.now() - started).toBeLessThan(5_000);
    await expect.poll(() => closed).toBe(true);
  });

  it('reports a refused connection', async () => {
    const webFetch = { allowPrivate: ['127.0.0.1'] };
    const executor = createExecutor({ tools: builtinTools({ webFetch }), approver: null, journal: false });
    const { error } = await executor.execute('web_fetch', { url: 'http://127.0.0.1:59999/' });
    expect(error).toMatchObject({
      code: 'fetch_failed',
      message: expect.stringContaining('connection was refused'),
    });
  });

  it('asks by default; a rule about the address allows it', async () => {
    const site = await serveSite(page('text/plain', 'x'));
    const tools = builtinTools({ webFetch: { allowPrivate: [site.host] } });
    const call = { id: '1', name: 'web_fetch', args: { url: site.url } };
    const asking = createExecutor({ tools, journal: false });
    const [planned] = (await asking.plan([call])).calls;
    expect(planned).toMatchObject({
      disposition: 'requires_confirmation',
      effects: [{ kind: 'fetch', url: site.url }],
      risk: 'medium',
    });
    const policy = { rules: [{ decision: 'allow' as const, url: site.host }] };
    const [result] = await createExecutor({ tools, policy, journal: false }).run([call]);
    expect(result).toMatchObject({ success: true, output: 'x' });
  });
});

describe('an answer of web_fetch that says how long it is fresh', () => {
  const fetchTwice = async (headers: Record<string, string>, afterMs: number, cache = {}) => {
    const site = await serveSite(page('text/plain', 'hello', headers));
    let skippedMs = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + skippedMs };
    const executor = createExecutor({
      tools: builtinTools({ webFetch: { allowPrivate: [site.host], respectRobots: false } }),
      approver: null,
      journal: false,
      clock,
      cache,
    });
    const first = await executor.execute('web_fetch', { url: site.url });
    skippedMs = afterMs;
    const second = await executor.execute('web_fetch', { url: site.url });
    expect([first.output, second.output]).toEqual(['hello', 'hello']);
    expect(second.metadata.cached === true).toBe(site.paths.length === 1);
    return { site, executor, second, asked: site.paths.length };
  };

  it.each<[string, Record<string, string>, number, number]>([
    ['is given again', { 'cache-control': 'max-age=60' }, 59_000, 1],
    ['is asked for again later', { 'cache-control': 'max-age=60' }, 61_000, 2],
    ['counts the age that it comes with', { 'cache-control': 'max-age=60', age: '50' }, 11_000, 2],
    ['may forbid it', { 'cache-control': 'no-store, max-age=60' }, 0, 2],
    ['may say nothing', {}, 0, 2],
  ])('%s', async (_, headers, afterMs, asked) => {
    expect((await fetchTwice(headers, afterMs)).asked).toBe(asked);
  });

  it('bug: a page behind a redirect was given again although the redirect may lead elsewhere by then', async () => {
    let version = 1;
    const site = await serveSite((request, response) => {
      const { url = '' } = request;
      if (url === '/latest') response.writeHead(302, { location: `/v${version}` }).end();
      else if (url === '/fixed')
        response.writeHead(301, { location: '/v1', 'cache-control': 'max-age=60' }).end();
      else response.setHeader('cache-control', 'max-age=3600').end(url);
    });
    const executor = executorFor(site, { respectRobots: false });
    const read = async (path: string) => executor.execute('web_fetch', { url: `${site.url}${path}` });
    expect((await read('/latest')).output).toBe('/v1');
    version = 2;
    expect((await read('/latest')).output).toBe('/v2');
    expect((await read('/fixed')).metadata).toMatchObject({ fresh_seconds: 60 });
    expect((await read('/fixed')).metadata.cached).toBe(true);
  });

  it('outlives no time of the cache, and belongs to its conversation', async () => {
    const headers = { 'cache-control': 'max-age=3600' };
    expect((await fetchTwice(headers, 2_000, { ttlMs: 1_000 })).asked).toBe(2);
    const { site, executor, second } = await fetchTwice(headers, 0);
    expect(second.metadata.origin).toEqual(['web:127.0.0.1']);
    expect(executor.cache.stats()).toMatchObject({ hits: 1, size: 1 });
    await executor.execute('web_fetch', { url: site.url }, { conversation: 'another' });
    expect(site.paths).toHaveLength(2);
  });

  it('is asked about as every call', async () => {
    const site = await serveSite(page('text/plain', 'hello', { 'cache-control': 'max-age=60' }));
    let asked = 0;
    const executor = createExecutor({
      tools: builtinTools({ webFetch: { allowPrivate: [site.host], respectRobots: false } }),
      journal: false,
      approver: () => (++asked === 1 ? { kind: 'approve_all' } : { kind: 'deny_all' }),
    });
    await executor.execute('web_fetch', { url: site.url });
    const denied = await executor.execute('web_fetch', { url: site.url });
    expect([denied.error?.code, asked, site.paths.length]).toEqual(['user_denied', 2, 1]);
  });
});
