import type { ContentBlock } from '../../contract/call.js';
import type { ToolContext } from '../../contract/context.js';
import type { JsonObject } from '../../contract/json.js';
import { ToolError } from '../../errors/tool-error.js';

/** What one way of reading produced. */
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
 * Bytes as base64 under a header, within the output limit: the engine must not cut it (D065).
 * `complete`: nothing of what was asked for is missing from `bytes`.
 */
export function encodeBinary(bytes: Uint8Array, complete: boolean, maxBytes: number): ReadOutcome {
  if (complete && HEADER.length + 4 * Math.ceil(bytes.length / 3) <= maxBytes) {
    return outcome(HEADER, bytes, false);
  }
  const room = maxBytes - TRUNCATED_HEADER.length;
  if (room < 0) return outcome(TRUNCATED_HEADER.slice(0, maxBytes), bytes.subarray(0, 0), true);
  // Whole groups of three bytes: what is cut off can be read on from there without padding in between.
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

/** Bytes at the start of a file that decide whether it is binary (D063). */
export const SNIFF_BYTES = 8192;

/**
 * True when the first bytes of a file hold a NUL or are no UTF-8. A character that is cut at the window's border,
 * and not at the file's end, is no sign of binary.
 */
export function looksBinary(head: Uint8Array): boolean {
  const window = head.subarray(0, SNIFF_BYTES);
  if (window.includes(0)) return true;
  return decodeText(window, { cut: head.length >= SNIFF_BYTES }) === undefined;
}

/** The text of a whole small file; undefined when it is binary. */
export function textOf(bytes: Uint8Array): string | undefined {
  return bytes.includes(0) ? undefined : decodeText(bytes);
}

/** The text of UTF-8 bytes, byte order mark included; undefined when they are none. `cut`: more bytes follow. */
export function decodeText(bytes: Uint8Array, options: { readonly cut?: boolean } = {}): string | undefined {
  try {
    if (options.cut !== true) return STRICT.decode(bytes);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes of text that one read may give: `min(max_file_read_bytes, available capacity)`. */
export function readLimit(ctx: ToolContext): number {
  return Math.min(ctx.limits.maxFileReadBytes, ctx.limits.availableCapacityBytes);
}

/** The answer for a file that is larger than the read limit; names its size where it can be told. */
export async function tooLarge(path: string, limit: number, ctx: ToolContext): Promise<ToolError> {
  const stat = await ctx.files.stat(path);
  const size = stat.type === 'file' ? `${stat.size} bytes` : 'more bytes than that';
  return new ToolError(
    'execution_failed',
    `file too large: ${path} (${size}; one read gives at most ${limit}). ` +
      'Read it in line ranges with start_line and end_line, or in smaller slices with offset and limit.',
  );
}
