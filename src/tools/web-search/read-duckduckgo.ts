import { Parser } from 'htmlparser2';
import { parseUrl } from '../../base/parse-url.js';
import { ToolError } from '../../errors/tool-error.js';
import type { SearchHit } from './search-providers.js';

interface Found {
  title: string;
  url: string;
  snippet: string;
  isAdvertisement: boolean;
}

/**
 * The results of DuckDuckGo's page without scripts: links of the class `result__a`, each followed by a
 * `result__snippet`.
 * @throws ToolError `fetch_failed` for the puzzle that it shows to programs which ask too often
 */
export function readDuckDuckGo(html: string): readonly SearchHit[] {
  const found: Found[] = [];
  let part: 'title' | 'snippet' | undefined;
  let depth = 0;
  let inAdvertisement = false;
  let isPuzzle = false;
  const parser = new Parser({
    onopentag(name, attributes) {
      const classes = new Set((attributes.class ?? '').split(/\s+/));
      // Only attributes are searched: the text of the page repeats the query, which may contain these names.
      if (classes.has('anomaly-modal__title') || /\/anomaly\.js\b/.test(attributes.action ?? ''))
        isPuzzle = true;
      if (classes.has('result')) inAdvertisement = classes.has('result--ad');
      if (part !== undefined) {
        depth++;
      } else if (name === 'a' && classes.has('result__a')) {
        const url = targetOf(attributes.href ?? '');
        found.push({ title: '', url, snippet: '', isAdvertisement: inAdvertisement || isAdvertisement(url) });
        part = 'title';
        depth = 0;
      } else if (classes.has('result__snippet') && found.length > 0) {
        part = 'snippet';
        depth = 0;
      }
    },
    ontext(text) {
      const last = found.at(-1);
      if (part !== undefined && last !== undefined && last[part].length < 5_000) last[part] += text;
    },
    onclosetag() {
      if (part !== undefined && depth-- === 0) part = undefined;
    },
  });
  parser.end(html);
  if (isPuzzle && found.length === 0) {
    throw new ToolError('fetch_failed', 'DuckDuckGo asks for a person: too many searches came from here.', {
      hint: 'Wait, or set another provider in [tools.web_search].',
    });
  }
  return found
    .filter((each) => !each.isAdvertisement)
    .map(({ title, url, snippet }) => ({ title: oneSpace(title), url, snippet: oneSpace(snippet) }));
}

/** Its links go through a page that counts clicks, with the target in `uddg`. */
function targetOf(href: string): string {
  const url = parseUrl(href.startsWith('//') ? `https:${href}` : href);
  if (url === undefined) return '';
  const isCounter = /(?:^|\.)duckduckgo\.com$/.test(url.hostname) && url.pathname === '/l/';
  return (isCounter ? url.searchParams.get('uddg') : undefined) ?? href;
}

function isAdvertisement(href: string): boolean {
  const url = parseUrl(href);
  return url !== undefined && /(?:^|\.)duckduckgo\.com$/.test(url.hostname) && url.pathname === '/y.js';
}

function oneSpace(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
