import type { ToolContext } from '../../contract/context.js';
import type { ToolOutput, ToolSpec } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import { errnoOf } from '../changed-files.js';
import { canonicalPath, fileRecord, filesRead } from '../files-read.js';
import { missingText } from '../missing-text.js';
import { readByteSlice, readWhole } from './read-bytes.js';
import { readLineRange } from './read-lines.js';
import type { ReadOutcome } from './read-outcome.js';
import { describeRange, parseReadRange, type ReadRange } from './read-range.js';
import { SequentialReader } from './sequential-reader.js';

export interface ReadFileArgs {
  readonly path: string;
  readonly start_line?: number;
  readonly end_line?: number;
  readonly offset?: number;
  readonly limit?: number;
}

export interface ReadFileOptions {
  /** Milliseconds since the epoch, to date recorded reads. If absent: records have no time. */
  readonly now?: () => number;
}

const MAX_LINE = 4_294_967_295;

const INPUT = {
  type: 'object',
  additionalProperties: false,
  required: ['path'],
  properties: {
    path: {
      type: 'string',
      pattern: '\\S',
      description: 'The file to read, relative to the working directory.',
    },
    start_line: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_LINE,
      description: 'First line to read, counted from 1. Default: the first line.',
    },
    end_line: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_LINE,
      description: 'Last line to read, inclusive. Default: the last line of the file.',
    },
    offset: {
      type: 'integer',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'First byte to read, counted from 0. Not together with line numbers.',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Number of bytes to read; a character that begins inside them is given whole.',
    },
  },
} as const;

/**
 * `read_file` (D063–D065, C036): text unchanged, an image or a PDF as content, other binary files as base64
 * after a `[binary:base64]` header. It remembers the content's hash for stale-file protection (D071).
 */
export function readFileTool(options: ReadFileOptions = {}): ToolSpec<ReadFileArgs> {
  return {
    name: 'read_file',
    aliases: ['Read', 'file_read'],
    title: 'Read File',
    description:
      'Reads a file: as a whole, a range of lines (start_line, end_line) or a slice of bytes (offset, limit). ' +
      'Text comes unchanged; a whole picture (PNG, JPEG, GIF, WebP) or PDF comes as such; another binary file comes as ' +
      'base64 after a line "[binary:base64]". ' +
      'Large files have to be read in ranges.',
    input: INPUT,
    explainArgs: missingText(INPUT),
    category: 'file',
    contained: true,
    idempotent: true,
    cacheable: true,
    touches: ['read'],
    effects: (args) => {
      parseReadRange(args);
      return [{ kind: 'read', path: args.path }];
    },
    summarize: (args) => `Read ${args.path}${describeRange(parseReadRange(args))}`,
    execute: (args, ctx) => readFile(args, ctx, options.now),
  };
}

async function readFile(
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

/** Words a failed read so that a model can act on it; passes on other errors. */
async function readErrorFor(path: string, error: unknown, ctx: ToolContext): Promise<unknown> {
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const details = { errno };
  if (errno === 'ENOENT' || errno === 'ENOTDIR') {
    return new ToolError('execution_failed', `file not found: ${path}`, { cause: error, details });
  }
  if (errno === 'EISDIR' || (await isDirectory(path, ctx))) {
    return new ToolError(
      'execution_failed',
      `path is a directory, not a file: ${path}. List it with list_directory.`,
      { cause: error, details },
    );
  }
  return error;
}

async function isDirectory(path: string, ctx: ToolContext): Promise<boolean> {
  try {
    return (await ctx.files.stat(path)).type === 'dir';
  } catch {
    return false;
  }
}
