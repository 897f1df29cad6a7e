import robots from 'robots-parser';
import type { ToolContext } from '../../contract/context.js';
import { isToolError } from '../../errors/tool-error.js';

/** A site's rule for programs; `unknown` if its robots.txt could not be read. */
export type RobotsAnswer = 'allowed' | 'refused' | 'unknown';

/** Remembers what sites have said, for a quarter of an hour. */
export type AskRobots = (url: URL, ctx: Pick<ToolContext, 'http'>) => Promise<RobotsAnswer>;

// A CommonJS module whose types say that it has a default export.
const robotsParser = robots as unknown as typeof robots.default;

const AGENT = 'toolexec';
const REMEMBERED_MS = 900_000;
const MOST_SITES = 200;
/** The rest of a longer file does not count. */
const MOST_BYTES = 524_288;
/** Characters of patterns times characters of the address; about a quarter of a second. */
const MOST_STEPS = 100_000_000;
/** A site whose robots.txt is slow is still asked for the page. */
const TIMEOUT_MS = 5_000;

export function createRobots(now: () => number): AskRobots {
  const sites = new Map<string, { readonly until: number; readonly text: string | undefined }>();
  return async (url, ctx) => {
    const { origin } = url;
    let site = sites.get(origin);
    if (site === undefined || site.until <= now()) {
      const { text, isForThisCall } = await readRobots(origin, ctx);
      if (isForThisCall === true) return 'unknown';
      site = { until: now() + REMEMBERED_MS, text };
      sites.delete(origin);
      sites.set(origin, site);
      const [oldest] = sites.keys();
      if (sites.size > MOST_SITES && oldest !== undefined) sites.delete(oldest);
    }
    if (site.text === undefined || takesLong(site.text, url)) return 'unknown';
    const allowed = robotsParser(`${origin}/robots.txt`, site.text).isAllowed(url.href, AGENT);
    return allowed === false ? 'refused' : 'allowed';
  };
}

/**
 * A pattern with `*` takes time for each of its characters and each of the address: seconds, if a site makes both long,
 * and nothing else runs meanwhile.
 */
function takesLong(text: string, { pathname, search }: URL): boolean {
  const patterns = text.split(/[\r\n]+/).filter((line) => line.includes('*'));
  const characters = patterns.reduce((sum, { length }) => sum + length, 0);
  return characters * (pathname.length + search.length) > MOST_STEPS;
}

interface RobotsText {
  /** A site without the file allows everything. Undefined: this cannot be determined now. */
  readonly text: string | undefined;
  /** The call may not reach the site; another call may. */
  readonly isForThisCall?: true;
}

async function readRobots(origin: string, { http }: Pick<ToolContext, 'http'>): Promise<RobotsText> {
  try {
    const limits = { timeoutMs: TIMEOUT_MS, maxBytes: Number.POSITIVE_INFINITY };
    const answer = await http(`${origin}/robots.txt`, limits);
    if (answer.ok) {
      const text = await beginningOf(answer);
      // Many servers do not know its type, and others answer with a page that says "not found".
      return { text: /^\s*</.test(text) ? '' : text };
    }
    await answer.body?.cancel();
    return { text: answer.status >= 500 ? undefined : '' };
  } catch (error) {
    if (isToolError(error, 'cancelled')) throw error;
    const isForThisCall =
      isToolError(error, 'sandbox_violation') && error.details.reason === 'UndeclaredEffect';
    // For example a redirect to another site, whose rules do not apply to this site.
    return { text: undefined, ...(isForThisCall ? { isForThisCall } : {}) };
  }
}

async function beginningOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk.subarray(0, MOST_BYTES - bytes), { stream: true });
    bytes += chunk.length;
    if (bytes >= MOST_BYTES) break;
  }
  return text;
}
