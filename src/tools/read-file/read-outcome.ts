import type { ContentBlock } from '../../contract/call.js';
import type { ToolContext } from '../../contract/context.js';
import type { JsonObject } from '../../contract/json.js';
import { ToolError } from '../../errors/tool-error.js';

/** The output of one way of reading. */
export interface ReadOutcome {
  readonly text: string;
  readonly content?: readonly ContentBlock[];
  readonly metadata: JsonObject;
  readonly truncatable: boolean;
  readonly truncated?: boolean;
}

const HEADER = '[binary:base64]\n';
const TRUNCATED_HEADER = '[binary:base64][truncated]\n';

/**
 * Bytes as base64 after a header, within the output limit, so that they are not cut (D065). `complete`:
 * `bytes` holds everything that was requested.
 */
export function encodeBinary(bytes: Uint8Array, complete: boolean, maxBytes: number): ReadOutcome {
  if (complete && HEADER.length + 4 * Math.ceil(bytes.length / 3) <= maxBytes) {
    return outcome(HEADER, bytes, false);
  }
  const room = maxBytes - TRUNCATED_HEADER.length;
  if (room < 0) return outcome(TRUNCATED_HEADER.slice(0, maxBytes), bytes.subarray(0, 0), true);
  // Whole groups of three bytes: reading can continue there without padding.
  return outcome(TRUNCATED_HEADER, bytes.subarray(0, Math.floor(room / 4) * 3), true);
}

function outcome(header: string, bytes: Uint8Array, truncated: boolean): ReadOutcome {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  return {
    text: header + body,
    metadata: { encoding: 'base64', bytes_read: bytes.length, truncated },
    truncatable: false,
    truncated,
  };
}

/** How many bytes at the start of a file decide whether it is binary (D063). */
export const SNIFF_BYTES = 8192;

/**
 * True if the first bytes of a file contain a NUL or invalid UTF-8. A character cut at the end of the window,
 * but not of the file, does not count.
 */
export function looksBinary(head: Uint8Array): boolean {
  const window = head.subarray(0, SNIFF_BYTES);
  if (window.includes(0)) return true;
  return decodeText(window, { cut: head.length >= SNIFF_BYTES }) === undefined;
}

/** The text of a whole small file; undefined if it is binary. */
export function textOf(bytes: Uint8Array): string | undefined {
  return bytes.includes(0) ? undefined : decodeText(bytes);
}

/** Decodes UTF-8, including a byte order mark; undefined if it is invalid. `cut`: more bytes follow. */
export function decodeText(bytes: Uint8Array, options: { readonly cut?: boolean } = {}): string | undefined {
  try {
    if (options.cut !== true) return STRICT.decode(bytes);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The maximum size of one read of text: `min(max_file_read_bytes, available capacity)`. */
export function readLimit(ctx: ToolContext): number {
  return Math.min(ctx.limits.maxFileReadBytes, ctx.limits.availableCapacityBytes);
}

/** The error for a file over the read limit, with its size if known. */
export async function tooLarge(path: string, limit: number, ctx: ToolContext): Promise<ToolError> {
  const stat = await ctx.files.stat(path);
  const size = stat.type === 'file' ? `${stat.size} bytes` : 'more bytes';
  return new ToolError(
    'execution_failed',
    `file too large: ${size} (max: ${limit} bytes). ` +
      `Read "${path}" in line ranges with start_line and end_line, or in smaller slices with offset and limit.`,
  );
}
