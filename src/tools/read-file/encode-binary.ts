import type { ReadOutcome } from './read-file-tool.js';

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
