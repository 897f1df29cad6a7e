import { redact } from './redact.js';
import { sanitize } from './sanitize.js';

const ELLIPSIS = '…';

/** No summary needs more of a text than this; what is removed from it may be much, but not nearly all. */
const MOST_READ = 65_536;

/**
 * One line for a person who decides (D026): neutralised, secrets hidden, at most `maxChars` UTF-16 units (so no more
 * characters either), cut between characters and ended by `…`.
 */
export function summarizeText(text: string, maxChars = 200): string {
  const clean = redact(sanitize(text.slice(0, MOST_READ), 'inline'));
  if (text.length <= MOST_READ && clean.length <= maxChars) return clean;
  return clean.slice(0, endOfCharacter(clean, Math.max(0, maxChars - ELLIPSIS.length))) + ELLIPSIS;
}

/** The last place up to `at` that is not inside a pair, nor after a joiner that would join the ellipsis. */
function endOfCharacter(text: string, at: number): number {
  let end = Math.min(at, text.length);
  if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end--;
  return text.charAt(end - 1) === '\u200d' ? end - 1 : end;
}
