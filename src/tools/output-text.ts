import type { ToolContext } from '../contract/context.js';

export interface FittedLines {
  readonly text: string;
  /** The number of lines in it. */
  readonly shown: number;
}

/**
 * As many whole lines as fit into `maxBytes` of UTF-8, with a notice about the rest.
 * @param notice the notice for a number of shown lines; undefined: no notice
 */
export function fitLines(
  lines: readonly string[],
  maxBytes: number,
  notice: (shown: number) => string | undefined,
): FittedLines {
  const ends: number[] = [0];
  for (const line of lines) {
    const end = (ends.at(-1) ?? 0) + Buffer.byteLength(line) + 1;
    if (end - 1 > maxBytes) break;
    ends.push(end);
  }
  for (let shown = ends.length - 1; shown >= 0; shown--) {
    const said = notice(shown);
    const bytes = (ends[shown] ?? 0) + (said === undefined ? -1 : Buffer.byteLength(said));
    if (bytes > maxBytes && shown > 0) continue;
    return { text: [...lines.slice(0, shown), ...(said === undefined ? [] : [said])].join('\n'), shown };
  }
  return { text: '', shown: 0 };
}

/** The first or last part of a text that fits into `maxBytes` of UTF-8, never half a character. */
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

/** True for a continuation byte of UTF-8. */
export function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** A path for a line of output. A name that would break the line, or is ambiguous, is quoted like JSON. */
export function showPath(path: string): string {
  return /[\p{Cc}\u2028\u2029]|^["[]/u.test(path) ? JSON.stringify(path) : path;
}

/** The maximum size of an answer that limits itself, in bytes. */
export function outputLimit({ limits }: ToolContext): number {
  return Math.min(limits.maxOutputBytes, limits.availableCapacityBytes);
}
