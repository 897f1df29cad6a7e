import type { ToolContext } from '../../contract/context.js';
import { isContinuation, outputLimit } from '../output-text.js';
import { mediaKindOf, readMedia } from './read-media.js';
import {
  decodeText,
  encodeBinary,
  looksBinary,
  type ReadOutcome,
  readLimit,
  SNIFF_BYTES,
  textOf,
  tooLarge,
} from './read-outcome.js';
import type { ReadRange } from './read-range.js';
import type { SequentialReader } from './sequential-reader.js';

type ByteRange = Extract<ReadRange, { kind: 'bytes' }>;

/** A UTF-8 character has at most this many continuation bytes. */
const MAX_CONTINUATION = 3;

/**
 * A byte range, up to the end of the file. In text, each character belongs to the range with its first byte,
 * so adjacent ranges add up to the file. The limit applies to the range, not to the file (F005).
 * @throws ToolError `execution_failed` if the range is text and larger than the read limit.
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

/**
 * The whole file.
 * @throws ToolError `execution_failed` if it is text and larger than the read limit.
 */
export async function readWhole(
  path: string,
  reader: SequentialReader,
  ctx: ToolContext,
): Promise<ReadOutcome> {
  const textLimit = readLimit(ctx);
  const limit = outputLimit(ctx);
  // One byte more than usable shows whether that was all.
  const wanted = Math.max(textLimit, Math.ceil((limit * 3) / 4), SNIFF_BYTES) + 1;
  const bytes = await reader.peek(wanted);
  const kind = mediaKindOf(path, bytes);
  const media = kind === undefined ? undefined : await readMedia(path, kind, reader, ctx);
  if (media !== undefined) return media;
  reader.pass(bytes.length);
  const complete = bytes.length < wanted;
  // A small file is decoded once.
  const isSmall = bytes.length < SNIFF_BYTES;
  const small = isSmall ? textOf(bytes) : undefined;
  if (isSmall ? small === undefined : looksBinary(bytes)) return encodeBinary(bytes, complete, limit);
  if (bytes.length > textLimit) throw await tooLarge(path, textLimit, ctx);
  const text = small ?? decodeText(bytes);
  if (text === undefined) return encodeBinary(bytes, complete, limit);
  return { text, metadata: { encoding: 'utf-8', bytes_read: bytes.length }, truncatable: true };
}
