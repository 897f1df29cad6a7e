/** The maximum time for which an answer is kept, regardless of its headers. */
const LONGEST = 86_400;

/**
 * The number of seconds for which an answer may be reused, from its headers (`Cache-Control`, `Expires`). 0:
 * they do not say, or forbid it.
 */
export function freshSeconds(headers: Headers, at: number): number {
  const control = (headers.get('cache-control') ?? '').toLowerCase();
  if (/\b(?:no-store|no-cache)\b/.test(control) || headers.get('vary')?.includes('*') === true) return 0;
  const age = Number(headers.get('age') ?? 0) || 0;
  const maxAge = /\bmax-age\s*=\s*"?(\d{1,10})/.exec(control)?.[1];
  if (maxAge !== undefined) return clamp(Number(maxAge) - age);
  const expires = Date.parse(headers.get('expires') ?? '');
  return Number.isNaN(expires) || Number.isNaN(at) ? 0 : clamp((expires - at) / 1_000 - age);
}

function clamp(seconds: number): number {
  return Math.max(0, Math.min(LONGEST, Math.floor(seconds)));
}
