import { parseUrl } from '../../base/parse-url.js';
import type { ToolContext } from '../../contract/context.js';
import type { HttpInit } from '../../contract/http.js';
import { isToolError, ToolError } from '../../errors/tool-error.js';
import type { AskRobots, RobotsAnswer } from './ask-robots.js';
import { freshSeconds } from './fresh-seconds.js';

/** An answer, with the facts that apply to it and to all redirects before it. */
export interface FollowedAnswer {
  readonly answer: Response;
  /**
   * For how many seconds the answer may be reused. A redirect without such a statement may lead elsewhere next time.
   */
  readonly freshSeconds: number;
  readonly robots: Exclude<RobotsAnswer, 'refused'>;
}

interface Following {
  readonly ctx: Pick<ToolContext, 'http'>;
  readonly init: Omit<HttpInit, 'redirect'>;
  readonly askRobots: AskRobots;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MOST_REDIRECTS = 10;

/**
 * Fetches an address and follows redirects. Each redirect is checked like a first request, including robots.txt.
 * @throws ToolError `fetch_failed` if robots.txt refuses programs, for a redirect to another site, and for too many
 */
export async function followRedirects(
  url: string,
  { ctx, init, askRobots }: Following,
): Promise<FollowedAnswer> {
  let robots: FollowedAnswer['robots'] = 'allowed';
  let fresh = Number.POSITIVE_INFINITY;
  let next = url;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const target = parseUrl(next);
    const rule = target === undefined ? 'allowed' : await askRobots(target, ctx);
    if (rule === 'refused') throw failed(url, 'its robots.txt refuses programs', { reason: 'Robots' });
    if (rule === 'unknown') robots = rule;
    const answer = await request(next, url, ctx, init);
    fresh = Math.min(fresh, freshSeconds(answer.headers, Date.parse(answer.headers.get('date') ?? '')));
    const location = REDIRECTS.has(answer.status) ? answer.headers.get('location') : null;
    if (location === null) return { answer, freshSeconds: fresh, robots };
    await answer.body?.cancel();
    const to = parseUrl(location, next);
    if (to === undefined) throw failed(url, 'it redirects to a text that is not a URL');
    next = to.href;
  }
  throw failed(url, `too many redirects: more than ${MOST_REDIRECTS}`, { reason: 'TooManyRedirects' });
}

async function request(
  url: string,
  first: string,
  { http }: Following['ctx'],
  init: Following['init'],
): Promise<Response> {
  try {
    return await http(url, { ...init, redirect: 'manual' });
  } catch (error) {
    if (url === first || !isToolError(error, 'sandbox_violation')) throw error;
    // The model can make a separate call for it.
    const why = `it redirects to another site. Fetch that address instead, if it is wanted: ${url}`;
    throw failed(first, why, { reason: 'Redirect', redirect: url });
  }
}

function failed(url: string, why: string, details: Readonly<Record<string, string>> = {}): ToolError {
  return new ToolError('fetch_failed', `failed to fetch url ${url}: ${why}`, {
    details: { url, ...details },
  });
}
