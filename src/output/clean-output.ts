import { redactValues } from './create-redactor.js';
import { exactValuesOf, type RedactOptions, redact } from './redact.js';
import { sanitize } from './sanitize.js';

/**
 * Hand in the same array of values for every call: what is looked for is prepared once for an array.
 */
export interface CleanOutputOptions extends RedactOptions {
  /** Bytes of UTF-8, the marker included. */
  readonly maxBytes: number;
}

/**
 * A tool's whole output as it may be shown, recorded and sent: neutralised, then redacted, then cut (D077, D079), in this
 * order, so that no half escape sequence and no half secret is left at the cut.
 */
export function cleanOutput(text: string, options: CleanOutputOptions): { text: string; truncated: boolean } {
  return truncate(redact(sanitize(text), options), options.maxBytes);
}

/** Ends every text that was cut. 24 bytes, one byte a character. */
export const TRUNCATION_MARKER = '\n\n... [output truncated]';

/** A UTF-16 unit takes at most three bytes of UTF-8 (a pair takes four). */
const MAX_BYTES_PER_UNIT = 3;

/**
 * Cuts `text` to at most `maxBytes` bytes of UTF-8, marker included, never inside a character (D079, D080, A017).
 * A limit not longer than the marker gives the cut marker. A limit below zero, or not a number, counts as zero.
 */
export function truncate(text: string, maxBytes: number): { text: string; truncated: boolean } {
  if (text.length * MAX_BYTES_PER_UNIT <= maxBytes) return { text, truncated: false };
  const limit = maxBytes > 0 ? Math.floor(maxBytes) : 0;
  if (text.length <= limit && Buffer.byteLength(text) <= limit) return { text, truncated: false };
  if (text.length === 0) return { text, truncated: false };
  if (limit <= TRUNCATION_MARKER.length) return { text: TRUNCATION_MARKER.slice(0, limit), truncated: true };
  return { text: prefixOfBytes(text, limit - TRUNCATION_MARKER.length) + TRUNCATION_MARKER, truncated: true };
}

/** The longest beginning of `text` that takes at most `maxBytes` bytes. */
function prefixOfBytes(text: string, maxBytes: number): string {
  const room = new Uint8Array(maxBytes);
  const { read } = new TextEncoder().encodeInto(text.slice(0, maxBytes + 1), room);
  return text.slice(0, read);
}

const BYTE_ORDER_MARK = '\ufeff';

/**
 * The content of a file as it may be shown, recorded and sent. Only exact values are hidden: a rule that guesses would
 * spoil what is edited next (F024). `redacted` says that something was.
 */
export function cleanFileOutput(
  text: string,
  { maxBytes, values = [] }: CleanOutputOptions,
): { text: string; truncated: boolean; redacted: boolean } {
  // A byte order mark is part of what is edited next; anywhere else the same character only hides.
  const safe = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + sanitize(text.slice(1)) : sanitize(text);
  const shown = values.length === 0 ? safe : redactValues(safe, exactValuesOf(values));
  return { ...truncate(shown, maxBytes), redacted: shown !== safe };
}

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

/**
 * True when `text` is one valid JSON object, blanks around it allowed (D061): such an error message of a tool passes
 * byte for byte, unmarked and uncut (D062).
 */
export function isJsonObjectText(text: string): boolean {
  // A message is prose nearly always: look before parsing, and let nothing but JSON's own blanks stand in front.
  if (!/^[ \t\r\n]*\{/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
