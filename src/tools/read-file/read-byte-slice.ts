import type { ToolContext } from '../../contract/context.js';
import { outputLimit } from '../output-limit.js';
import { isContinuation } from '../utf8-boundary.js';
import { encodeBinary } from './encode-binary.js';
import type { ReadOutcome } from './read-file-tool.js';
import { readLimit, tooLarge } from './read-limit.js';
import type { ReadRange } from './read-range.js';
import type { SequentialReader } from './sequential-reader.js';
import { SNIFF_BYTES, decodeText, looksBinary } from './text-or-binary.js';

type ByteRange = Extract<ReadRange, { kind: 'bytes' }>;

/** A UTF-8 character has at most this many bytes after its first. */
const MAX_CONTINUATION = 3;

/**
 * A slice of bytes; nothing beyond the end. Of text, every character belongs to the slice that holds its first byte,
 * so that slices put side by side are the file. Judged by its own size, not the file's (F005).
 * @throws ToolError `execution_failed` when the slice itself is text and larger than the read limit.
 */
export async function readByteSlice(
  path: string,
  range: ByteRange,
  reader: SequentialReader,
  ctx: ToolContext,
): Promise<ReadOutcome> {
  const binary = looksBinary(await reader.peek(SNIFF_BYTES));
  await reader.skipTo(range.offset);
  const textLimit = readLimit(ctx);
  const limit = outputLimit(ctx);
  const wanted = Math.min(range.length, Math.max(textLimit, Math.ceil((limit * 3) / 4)) + 1);
  const bytes = await reader.next(wanted + MAX_CONTINUATION);
  const slice = bytes.subarray(0, wanted);
  const complete = wanted === range.length || bytes.length < wanted;
  const text = binary ? undefined : decodeText(wholeCharacters(bytes, wanted, range.offset > 0));
  if (text === undefined) return encodeBinary(slice, complete, limit);
  if (slice.length > textLimit) throw await tooLarge(path, textLimit, ctx);
  const bytesRead = Buffer.byteLength(text, 'utf8');
  return {
    text,
    metadata: { encoding: 'utf-8', bytes_read: bytesRead, offset: range.offset },
    truncatable: true,
  };
}

function wholeCharacters(bytes: Uint8Array, length: number, mayStartInside: boolean): Uint8Array {
  const first = mayStartInside ? skipContinuation(bytes, 0) : 0;
  const last = length < bytes.length ? skipContinuation(bytes, length) : bytes.length;
  return bytes.subarray(Math.min(first, last), last);
}

function skipContinuation(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && at - from < MAX_CONTINUATION && isContinuation(bytes[at])) at++;
  return at;
}
