/** If the server asks for a longer delay, the request fails instead. */
const MAX_ASKED_MS = 60_000;
const FIRST_MS = 500;
const MAX_MS = 8_000;

/**
 * Milliseconds until the next attempt: the server's request, or twice as long each time, reduced by up to a
 * quarter at random, so that clients that failed together do not retry together. Undefined if the server asks
 * for too long.
 * @param attempt the failed attempt, from 0
 * @param random from 0 to 1
 */
export function retryDelay(attempt: number, askedMs: number | undefined, random: number): number | undefined {
  if (askedMs !== undefined) return askedMs > MAX_ASKED_MS ? undefined : askedMs;
  return Math.min(MAX_MS, FIRST_MS * 2 ** attempt) * (1 - random / 4);
}

/** The value of `retry-after-ms` or `retry-after`: seconds, or a date. */
export function askedDelay(header: (name: string) => string | undefined, nowMs: number): number | undefined {
  const ms = toNumber(header('retry-after-ms'));
  if (ms !== undefined) return ms;
  const after = header('retry-after');
  const seconds = toNumber(after);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(after ?? '');
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

function toNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}
