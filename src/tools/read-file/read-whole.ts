import type { ToolContext } from '../../contract/context.js';
import { outputLimit } from '../output-limit.js';
import { encodeBinary } from './encode-binary.js';
import type { ReadOutcome } from './read-file-tool.js';
import { readLimit, tooLarge } from './read-limit.js';
import { mediaKindOf, readMedia } from './read-media.js';
import type { SequentialReader } from './sequential-reader.js';
import { SNIFF_BYTES, decodeText, looksBinary, textOf } from './text-or-binary.js';

/**
 * The whole file.
 * @throws ToolError `execution_failed` when it is text and larger than the read limit.
 */
export async function readWhole(
  path: string,
  reader: SequentialReader,
  ctx: ToolContext,
): Promise<ReadOutcome> {
  const textLimit = readLimit(ctx);
  const limit = outputLimit(ctx);
  // One more than could be used tells whether that was all.
  const wanted = Math.max(textLimit, Math.ceil((limit * 3) / 4), SNIFF_BYTES) + 1;
  const bytes = await reader.peek(wanted);
  const kind = mediaKindOf(path, bytes);
  const media = kind === undefined ? undefined : await readMedia(path, kind, reader, ctx);
  if (media !== undefined) return media;
  reader.pass(bytes.length);
  const complete = bytes.length < wanted;
  // What is looked at as a whole is decoded once.
  const isSmall = bytes.length < SNIFF_BYTES;
  const small = isSmall ? textOf(bytes) : undefined;
  if (isSmall ? small === undefined : looksBinary(bytes)) return encodeBinary(bytes, complete, limit);
  if (bytes.length > textLimit) throw await tooLarge(path, textLimit, ctx);
  const text = small ?? decodeText(bytes);
  if (text === undefined) return encodeBinary(bytes, complete, limit);
  return { text, metadata: { encoding: 'utf-8', bytes_read: bytes.length }, truncatable: true };
}
