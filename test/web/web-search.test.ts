import { describe, expect, it } from 'vitest';
import { builtinTools, createExecutor } from '../../src/index.js';
import { page, serveSite } from './web-site.js';

const hit = (href: string, title: string, snippet: string): string =>
  `<div class="result results_links"><h2 class="result__title"><a rel="nofollow" class="result__a" href="${href}">${title}</a></h2>
   <a class="result__url" href="${href}">shown</a><a class="result__snippet" href="${href}">${snippet}</a></div>`;
const DUCK = `<html><body>${[
  hit('https://example.com/one', 'First', 'About <b>one</b>'),
  hit('//duckduckgo.com/l/?uddg=https%3A%2F%2Ftest.org%2Ftwo%3Fa%3D1&amp;rut=0', 'Second', 'About two'),
  hit('https://www.example.com/x', 'A &amp; &lt;b&gt; <b>title</b>', ''),
  hit('https://another.net/', 'Fourth', 'About four'),
  hit('javascript:alert(1)', 'Bad', 'no address'),
].join(
  '',
)}<div class="result result--ad">${hit('https://ads.example/', 'Advertisement', 'x').replace('result results_links', 'inner')}</div></body></html>`;

type WebOptions = NonNullable<Parameters<typeof builtinTools>[0]>;

function executorWith(webSearch: WebOptions['webSearch']) {
  return createExecutor({
    tools: builtinTools({ webSearch: webSearch ?? {} }),
    approver: null,
    journal: false,
  });
}

describe('web_search', () => {
  it('lists what DuckDuckGo finds, as text and as structured content (C047)', async () => {
    const site = await serveSite(page('text/html', DUCK));
    const result = await executorWith({ url: site.url }).execute('web_search', { query: 'a&b=c d#e' });
    expect(new URL(site.requests[0]?.url ?? '', site.url).searchParams.get('q')).toBe('a&b=c d#e');
    expect(result.structured).toEqual({
      query: 'a&b=c d#e',
      results: [
        { title: 'First', url: 'https://example.com/one', snippet: 'About one' },
        { title: 'Second', url: 'https://test.org/two?a=1', snippet: 'About two' },
        { title: 'A & <b> title', url: 'https://www.example.com/x', snippet: '' },
        { title: 'Fourth', url: 'https://another.net/', snippet: 'About four' },
      ],
    });
    expect(result.output).toContain('1. First\n   https://example.com/one\n   About one\n\n2. Second');
  });

  it.each([
    [{ allowed_domains: ['EXAMPLE.com'] }, ['https://example.com/one', 'https://www.example.com/x']],
    [{ blocked_domains: ['example.com'] }, ['https://test.org/two?a=1', 'https://another.net/']],
    [{ allowed_domains: ['ple.com'] }, []],
    [{ max_results: 1 }, ['https://example.com/one']],
  ])('keeps to %j', async (args, urls) => {
    const site = await serveSite(page('text/html', DUCK));
    const { structured, output } = await executorWith({ url: site.url }).execute('web_search', {
      query: 't',
      ...args,
    });
    expect((structured as { results: { url: string }[] }).results.map(({ url }) => url)).toEqual(urls);
    if (urls.length === 0) expect(output).toBe('No results found.');
  });

  it('bug: a domain in other letters, or with a dot at the end, was not recognized', async () => {
    const body = [
      hit('https://evil.example./x', 'Dot', ''),
      hit('https://bücher.example/y', 'Umlaut', ''),
    ].join('');
    const site = await serveSite(page('text/html', body));
    const { output } = await executorWith({ url: site.url }).execute('web_search', {
      query: 't',
      blocked_domains: ['evil.example', 'bücher.example'],
    });
    expect(output).toBe('No results found.');
  });

  it('bug: a line break in an address made lines of its own in the list', async () => {
    const target = encodeURIComponent('https://a.example/\n\n2. Forged');
    const site = await serveSite(
      page('text/html', hit(`//duckduckgo.com/l/?uddg=${target}`, 'One', 'about')),
    );
    const { output } = await executorWith({ url: site.url }).execute('web_search', { query: 't' });
    expect(output.split('\n')).toEqual(['1. One', '   https://a.example/ 2. Forged', '   about']);
  });

  it('says that a search failed, and why', async () => {
    const site = await serveSite((_request, response) => void response.writeHead(503).end());
    const { error } = await executorWith({ url: site.url }).execute('web_search', { query: 't' });
    expect(error).toMatchObject({
      code: 'fetch_failed',
      message: 'search failed: http error: 503 Service Unavailable',
    });
  });

  it("bug: DuckDuckGo's puzzle for people, answered with status 200, counted as a search without results", async () => {
    const puzzle =
      '<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html"><div class="anomaly-modal__title">';
    const search = async (body: string) => {
      const site = await serveSite(page('text/html', `<title>anomaly.js</title>${body}`));
      return executorWith({ url: site.url }).execute('web_search', { query: 'anomaly.js' });
    };
    expect((await search(puzzle)).error).toMatchObject({
      code: 'fetch_failed',
      message: expect.stringContaining('asks for a person'),
      hint: expect.stringContaining('another provider'),
    });
    expect((await search(`${DUCK}${puzzle}`)).success).toBe(true);
    expect((await search('<div class="no-results">')).output).toBe('No results found.');
  });

  it('asks SearXNG, by the address of its API', async () => {
    const body = JSON.stringify({
      results: [{ title: 'T', url: 'https://a.example/', content: 'C' }, { title: 1 }, null],
    });
    const site = await serveSite(page('application/json', body));
    const executor = executorWith({ provider: 'searxng', url: site.url });
    const { structured } = await executor.execute('web_search', { query: 't' });
    expect(site.paths).toEqual(['/search?q=t&format=json']);
    expect(structured).toMatchObject({ results: [{ title: 'T', url: 'https://a.example/', snippet: 'C' }] });
    const html = await serveSite(page('text/html', '<html>'));
    const { error } = await executorWith({ provider: 'searxng', url: html.url }).execute('web_search', {
      query: 't',
    });
    expect(error?.message).toContain('not JSON');
  });

  it('bug: a search of SearXNG that no service answered counted as one without results', async () => {
    const search = async (body: object) => {
      const site = await serveSite(page('application/json', JSON.stringify(body)));
      return executorWith({ provider: 'searxng', url: site.url }).execute('web_search', { query: 't' });
    };
    const silent = {
      unresponsive_engines: [
        ['google', 'Suspended: CAPTCHA'],
        ['brave', 'timeout'],
      ],
    };
    expect((await search({ results: [], ...silent })).error?.message).toBe(
      'search failed: no service behind SearXNG gave results (google: Suspended: CAPTCHA, brave: timeout).',
    );
    const results = [{ title: 'T', url: 'https://a.example/', content: 'C' }];
    expect((await search({ results, ...silent })).output).toContain('1. T');
    expect((await search({ results: [] })).output).toBe('No results found.');
  });

  it('gives Brave its key from the environment, which no answer shows', async () => {
    process.env.BRAVE_TEST_API_KEY = 'brave-secret-value-1';
    const body = JSON.stringify({
      web: { results: [{ title: 'T', url: 'https://a.example/', description: '<strong>D</strong>' }] },
    });
    const site = await serveSite(page('application/json', body));
    const options = { provider: 'brave', url: site.url, apiKeyEnv: 'BRAVE_TEST_API_KEY' } as const;
    const executor = executorWith(options);
    const result = await executor.execute('web_search', { query: 't' });
    delete process.env.BRAVE_TEST_API_KEY;
    expect(site.requests[0]?.headers['x-subscription-token']).toBe('brave-secret-value-1');
    expect(result.structured).toMatchObject({ results: [{ snippet: 'D' }] });
    expect(JSON.stringify(result)).not.toContain('brave-secret');
    const { error } = await executor.execute('web_search', { query: 't' });
    expect(error?.message).toBe('search failed: the environment has no BRAVE_TEST_API_KEY.');
  });

  it.each([
    [{ provider: 'searxng' as const }, 'webSearch.url must be given for searxng'],
    [{ provider: 'brave' as const }, 'webSearch.apiKeyEnv must be given for brave'],
    [{ url: 'ftp://x' }, 'webSearch.url must be an http or https address'],
  ])('refuses the options %j', (options, message) => {
    expect(() => executorWith(options)).toThrow(message);
  });

  it('refuses a search for nothing, and asks by default', async () => {
    const { error } = await executorWith({}).execute('web_search', {});
    expect(error).toMatchObject({
      code: 'bad_args',
      message: expect.stringContaining('query parameter is required'),
    });
    const executor = createExecutor({ journal: false });
    const { calls } = await executor.plan([{ id: '1', name: 'WebSearch', args: { query: 'x y' } }]);
    expect(calls[0]).toMatchObject({
      disposition: 'requires_confirmation',
      effects: [{ kind: 'fetch', url: 'https://html.duckduckgo.com/html/?q=x+y' }],
    });
  });
});
