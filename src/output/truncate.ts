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
