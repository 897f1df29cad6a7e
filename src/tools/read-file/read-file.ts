import type { ToolContext } from '../../contract/context.js';
import type { ToolOutput } from '../../contract/tool.js';
import { canonicalPath, fileRecord, filesRead } from '../files-read.js';
import { readByteSlice } from './read-byte-slice.js';
import { readErrorFor } from './read-error.js';
import type { ReadFileArgs, ReadOutcome } from './read-file-tool.js';
import { readLineRange } from './read-line-range.js';
import { type ReadRange, parseReadRange } from './read-range.js';
import { readWhole } from './read-whole.js';
import { SequentialReader } from './sequential-reader.js';

export async function readFile(
  args: ReadFileArgs,
  ctx: ToolContext,
  now: (() => number) | undefined,
): Promise<ToolOutput> {
  const range = parseReadRange(args);
  const reader = new SequentialReader(args.path, ctx);
  try {
    const { metadata, ...read } = await readRange(args.path, range, reader, ctx);
    const digest = await reader.digest();
    const path = reader.canonical ?? canonicalPath(ctx, args.path);
    if (digest !== undefined) filesRead(ctx.memory).set(path, fileRecord(digest.sha256, now));
    if (digest === undefined) return { ...read, metadata: { path, ...metadata } };
    return {
      ...read,
      metadata: { path, ...metadata, total_bytes: digest.totalBytes, sha256: digest.sha256 },
    };
  } catch (error) {
    throw await readErrorFor(args.path, error, ctx);
  }
}

function readRange(
  path: string,
  range: ReadRange,
  reader: SequentialReader,
  ctx: ToolContext,
): Promise<ReadOutcome> {
  switch (range.kind) {
    case 'whole':
      return readWhole(path, reader, ctx);
    case 'lines':
      return readLineRange(path, range, reader, ctx);
    case 'bytes':
      return readByteSlice(path, range, reader, ctx);
  }
}
