import { describe, expect, it } from 'vitest';
import { createExecutor, defineTool, type ToolContext } from '../../src/index.js';
import { page, serveSite, type WebSite } from './web-site.js';

/** A tool that declares the root of a site and runs the test's code with it. */
function runWith(
  site: WebSite,
  work: (ctx: ToolContext) => Promise<string>,
  effects = [{ kind: 'fetch' as const, url: site.url }],
) {
  const tool = defineTool({
    name: 'own',
    description: 'Fetches.',
    input: { type: 'object' },
    privateHosts: ['127.0.0.1'],
    effects: () => effects,
    execute: (_args, ctx) => work(ctx),
  });
  return createExecutor({ tools: [tool], approver: null, journal: false }).execute('own', {});
}

describe('ctx.http', () => {
  it('is fetch for what the call has declared', async () => {
    const site = await serveSite(page('application/json', '{"a":1}', { 'x-own': 'yes' }));
    const result = await runWith(site, async ({ http }) => {
      const answer = await http(`${site.url}/deep/path`);
      return JSON.stringify([
        answer instanceof Response,
        answer.ok,
        answer.headers.get('x-own'),
        await answer.json(),
      ]);
    });
    expect(result.output).toBe('[true,true,"yes",{"a":1}]');
  });

  it('refuses what was not declared: another port, and everything where nothing is declared', async () => {
    const site = await serveSite(page('text/plain', 'x'));
    const other = await serveSite(page('text/plain', 'y'));
    const answers = [
      await runWith(site, async ({ http }) => (await http(other.url)).text()),
      await runWith(site, async ({ http }) => (await http(site.url)).text(), []),
    ];
    expect(answers.map(({ error }) => error?.code)).toEqual(['sandbox_violation', 'sandbox_violation']);
    expect([...site.paths, ...other.paths]).toEqual([]);
  });

  it('follows redirects within the declaration, and none that leads out of it', async () => {
    const other = await serveSite(page('text/plain', 'y'));
    const site = await serveSite((request, response) => {
      if (request.url === '/there') return void response.end('there');
      response.writeHead(302, { location: request.url === '/in' ? '/there' : other.url }).end();
    });
    expect((await runWith(site, async ({ http }) => (await http(`${site.url}/in`)).text())).output).toBe(
      'there',
    );
    const out = await runWith(site, async ({ http }) => (await http(`${site.url}/out`)).text());
    expect(out.error).toMatchObject({ code: 'sandbox_violation', details: { reason: 'UndeclaredRedirect' } });
    expect(other.paths).toEqual([]);
    const manual = await runWith(site, async ({ http }) =>
      String((await http(`${site.url}/out`, { redirect: 'manual' })).headers.get('location')),
    );
    expect(manual.output).toBe(other.url);
  });

  it('bug: the error of a redirect to another site gave the query of its address away', async () => {
    const site = await serveSite((_request, response) => {
      response.writeHead(302, { location: 'https://other.example/a?signature=5ecret' }).end();
    });
    const { error } = await runWith(site, async ({ http }) => (await http(site.url)).text());
    expect(error?.details).toMatchObject({ redirect: 'https://other.example/a?…' });
    expect(JSON.stringify(error)).not.toContain('5ecret');
  });

  it('bug: it threw at once where fetch rejects, so that a handler of the promise did not see it', async () => {
    const site = await serveSite(page('text/plain', 'x'));
    let kept: ToolContext['http'] | undefined;
    await runWith(site, async ({ http }) => {
      kept = http;
      return 'done';
    });
    expect(await kept?.(site.url).catch((error: Error) => error.message)).toContain('the call is answered');
  });

  it('bug: a file was called no URL, and not an address with another scheme', async () => {
    const site = await serveSite(page('text/plain', 'x'));
    const { error } = await runWith(site, async ({ http }) => (await http('file:///etc/passwd')).text());
    expect(error).toMatchObject({
      code: 'url_blocked',
      message: expect.stringContaining('its scheme is file'),
    });
  });

  it('ends with its call: an answer that is not read is closed, and the handle is dead', async () => {
    let closed = false;
    const site = await serveSite((request, response) => {
      request.socket.once('close', () => {
        closed = true;
      });
      response.write('never read');
    });
    let kept: ToolContext['http'] | undefined;
    await runWith(site, async ({ http }) => {
      kept = http;
      await http(site.url);
      return 'done';
    });
    await expect.poll(() => closed).toBe(true);
    await expect(kept?.(site.url)).rejects.toThrow(/the call is answered/);
  });
});
