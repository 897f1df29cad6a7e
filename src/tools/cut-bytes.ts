import { isContinuation } from './utf8-boundary.js';

/** The first or the last part of a text that fits into `maxBytes` of UTF-8, never half a character. */
export function cutBytes(text: string, maxBytes: number, side: 'start' | 'end'): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  if (side === 'start') return bytes.subarray(0, characterStart(bytes, maxBytes)).toString('utf8');
  let from = bytes.length - maxBytes;
  while (from < bytes.length && isContinuation(bytes[from])) from++;
  return bytes.subarray(from).toString('utf8');
}

function characterStart(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && isContinuation(bytes[start])) start--;
  return start;
}
