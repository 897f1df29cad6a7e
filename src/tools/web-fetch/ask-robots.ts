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
const MOST_BYTES = 500_000;
/** A site whose robots.txt is slow is still asked for the page. */
const TIMEOUT_MS = 5_000;

export function createRobots(now: () => number): AskRobots {
  const sites = new Map<string, { readonly until: number; readonly text: string | undefined }>();
  return async (url, ctx) => {
    const { origin } = url;
    let site = sites.get(origin);
    if (site === undefined || site.until <= now()) {
      site = { until: now() + REMEMBERED_MS, text: await readRobots(origin, ctx) };
      sites.delete(origin);
      sites.set(origin, site);
      const [oldest] = sites.keys();
      if (sites.size > MOST_SITES && oldest !== undefined) sites.delete(oldest);
    }
    if (site.text === undefined) return 'unknown';
    const allowed = robotsParser(`${origin}/robots.txt`, site.text).isAllowed(url.href, AGENT);
    return allowed === false ? 'refused' : 'allowed';
  };
}

/** A site without the file allows everything. Undefined: this cannot be determined now. */
async function readRobots(origin: string, { http }: Pick<ToolContext, 'http'>): Promise<string | undefined> {
  try {
    const answer = await http(`${origin}/robots.txt`, { timeoutMs: TIMEOUT_MS, maxBytes: MOST_BYTES });
    const type = answer.headers.get('content-type') ?? '';
    if (answer.ok && /^(?:$|text\/plain)/i.test(type)) return await answer.text();
    await answer.body?.cancel();
    // A page that says "not found", with any status.
    return answer.status >= 500 ? undefined : '';
  } catch (error) {
    // For example a redirect to another site, whose rules do not apply to this site.
    if (isToolError(error) && error.code === 'cancelled') throw error;
    return undefined;
  }
}
