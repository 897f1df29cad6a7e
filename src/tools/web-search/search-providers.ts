import type { OptionsIn } from '../../contract/settings.js';
import { ToolError } from '../../errors/tool-error.js';

export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

export interface SearchRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A search service: its address, and how to read its answer. */
export interface SearchProvider {
  readonly home: string | undefined;
  readonly needsKey: boolean;
  request(home: string, query: string, key: string | undefined): SearchRequest;
  /** @throws ToolError `fetch_failed` for an answer that does not come from this service */
  read(body: string): Promise<readonly SearchHit[]> | readonly SearchHit[];
}

export const SEARCH_PROVIDERS = {
  duckduckgo: {
    home: 'https://html.duckduckgo.com/html/',
    needsKey: false,
    request: (home, query) => ({ url: withQuery(home, { q: query }), headers: { accept: 'text/html' } }),
    read: async (body) => (await import('./read-duckduckgo.js')).readDuckDuckGo(body),
  },
  searxng: {
    home: undefined,
    needsKey: false,
    request: (home, query) => {
      const base = home.endsWith('/search') ? home : `${home.replace(/\/+$/, '')}/search`;
      return { url: withQuery(base, { q: query, format: 'json' }), headers: { accept: 'application/json' } };
    },
    read: readSearxng,
  },
  brave: {
    home: 'https://api.search.brave.com/res/v1/web/search',
    needsKey: true,
    request: (home, query, key = '') => ({
      url: withQuery(home, { q: query, count: '20' }),
      headers: { accept: 'application/json', 'x-subscription-token': key },
    }),
    read: (body) => hitsIn(objectsAt(body, ['web', 'results']), 'description'),
  },
} satisfies Readonly<
  Record<NonNullable<OptionsIn<'executor.builtins.webSearch'>['provider']>, SearchProvider>
>;

/** @throws ToolError `fetch_failed` if there are no results because no service behind SearXNG has answered */
function readSearxng(body: string): readonly SearchHit[] {
  const hits = hitsIn(objectsAt(body, ['results']), 'content');
  const silent = hits.length > 0 ? [] : objectsAt(body, ['unresponsive_engines']);
  if (silent.length === 0) return hits;
  const named = silent
    .slice(0, 5)
    .map((service) => (Array.isArray(service) ? service.map(textOf).join(': ') : ''));
  throw new ToolError('fetch_failed', `no service behind SearXNG gave results (${named.join(', ')}).`);
}

function withQuery(home: string, query: Readonly<Record<string, string>>): string {
  const url = new URL(home);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

/** A JSON list under the names in `path`; a service without results may leave it out. */
function objectsAt(body: string, path: readonly string[]): readonly object[] {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new ToolError('fetch_failed', 'the answer is not JSON. Check the address of the service.');
  }
  for (const name of path)
    value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}

function hitsIn(items: readonly object[], snippet: string): readonly SearchHit[] {
  return items.map((item) => ({
    title: textOf(Reflect.get(item, 'title')),
    url: textOf(Reflect.get(item, 'url')),
    snippet: textOf(Reflect.get(item, snippet)),
  }));
}

/** Services mark the words that match. */
function textOf(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value
    .slice(0, 5_000)
    .replace(/<\/?(?:strong|b|em|mark)>/gi, '')
    .replace(/\s+/g, ' ')
    .trim();
}
