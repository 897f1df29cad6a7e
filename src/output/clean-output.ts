import { isText, requireArgument } from '../base/normalize-options.js';
import { redactValues } from './create-redactor.js';
import { exactValuesOf, type RedactOptions, redact } from './redact.js';
import { sanitize } from './sanitize.js';

/** Pass the same array of values to every call: the search is prepared once per array. */
export interface CleanOutputOptions extends RedactOptions {
  /** UTF-8 bytes, including the marker. */
  readonly maxBytes: number;
}

/**
 * Prepares a tool's output for display, records and models: neutralized, then redacted, then cut (D077,
 * D079). In this order a cut leaves neither half an escape sequence nor half a secret.
 */
export function cleanOutput(
  text: string,
  { maxBytes, ...hidden }: CleanOutputOptions,
): { text: string; truncated: boolean } {
  return truncate(redact(sanitize(text), hidden), maxBytes);
}

/** The end of every truncated text: 24 bytes, one per character. */
export const TRUNCATION_MARKER = '\n\n... [output truncated]';

/** A UTF-16 unit takes at most three bytes of UTF-8 (a pair takes four). */
const MAX_BYTES_PER_UNIT = 3;

/**
 * Cuts `text` to at most `maxBytes` UTF-8 bytes including the marker, never inside a character (D079, D080,
 * A017). If the limit is not longer than the marker, the result is a part of the marker. A limit below zero,
 * or NaN, counts as zero.
 * @throws ToolError `config_invalid` for a text or a limit of another type
 */
export function truncate(text: string, maxBytes: number): { text: string; truncated: boolean } {
  requireArgument('truncate()', text, isText, 'a text');
  requireArgument('truncate()', maxBytes, isNumber, 'a number of bytes');
  if (text.length * MAX_BYTES_PER_UNIT <= maxBytes) return { text, truncated: false };
  const limit = maxBytes > 0 ? Math.floor(maxBytes) : 0;
  if (text.length <= limit && Buffer.byteLength(text) <= limit) return { text, truncated: false };
  if (text.length === 0) return { text, truncated: false };
  if (limit <= TRUNCATION_MARKER.length) return { text: TRUNCATION_MARKER.slice(0, limit), truncated: true };
  return { text: prefixOfBytes(text, limit - TRUNCATION_MARKER.length) + TRUNCATION_MARKER, truncated: true };
}

const isNumber = (value: unknown): boolean => typeof value === 'number';

/** The longest prefix of `text` with at most `maxBytes` bytes. */
function prefixOfBytes(text: string, maxBytes: number): string {
  const room = new Uint8Array(maxBytes);
  const { read } = new TextEncoder().encodeInto(text.slice(0, maxBytes + 1), room);
  return text.slice(0, read);
}

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Prepares file content for display, records and models. Only exact values are hidden: a heuristic rule would
 * damage text that is edited next (F024). `redacted` is true if a value was hidden.
 */
export function cleanFileOutput(
  text: string,
  { maxBytes, values = [] }: CleanOutputOptions,
): { text: string; truncated: boolean; redacted: boolean } {
  // A byte order mark belongs to the edited text. Elsewhere the same character is invisible and removed.
  const safe = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + sanitize(text.slice(1)) : sanitize(text);
  const shown = values.length === 0 ? safe : redactValues(safe, exactValuesOf(values));
  return { ...truncate(shown, maxBytes), redacted: shown !== safe };
}

const ELLIPSIS = '…';

/** A summary never needs more text than this, even if much of it is removed. */
const MOST_READ = 65_536;

/**
 * One line for approval questions (D026): neutralized, redacted, at most `maxChars` UTF-16 units, cut between
 * characters and ended with `…`.
 */
export function summarizeText(text: string, maxChars = 200): string {
  const clean = redact(sanitize(text.slice(0, MOST_READ), 'inline'));
  if (text.length <= MOST_READ && clean.length <= maxChars) return clean;
  return clean.slice(0, endOfCharacter(clean, Math.max(0, maxChars - ELLIPSIS.length))) + ELLIPSIS;
}

/**
 * The last position up to `at` that is neither inside a pair nor after a joiner, which would join the
 * ellipsis.
 */
function endOfCharacter(text: string, at: number): number {
  let end = Math.min(at, text.length);
  if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end--;
  return text.charAt(end - 1) === '\u200d' ? end - 1 : end;
}

/**
 * True if `text` is one valid JSON object, with optional blanks around it (D061). Such an error message of a
 * tool is passed on unchanged, unmarked and uncut (D062).
 */
export function isJsonObjectText(text: string): boolean {
  // Most messages are prose: check the first character before parsing. Only JSON's own blanks may precede it.
  if (!/^[ \t\r\n]*\{/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
