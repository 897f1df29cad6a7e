import { onFirstUse } from '../../base/on-first-use.js';
import type { WriteMode } from '../../contract/files.js';
import type { ToolSpec } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import { probeFiles } from '../probe-files.js';
import { assertNotRedacted } from '../redacted-text.js';
import { TOOL_NAMES } from '../tool-names.js';

export interface WriteFileArgs {
  readonly path: string;
  readonly content: string;
  readonly mode?: WriteMode;
}

export interface WriteFileOptions {
  /** Milliseconds since the epoch: when a write is recorded. Left out: records carry no time. */
  readonly now?: () => number;
}

/** Bytes of content that one call may write (C007). */
export const MAX_CONTENT_BYTES = 10 * 1024 * 1024;

/** A byte of content takes at most six in JSON (`\u0001`); the rest is for the path. */
const MAX_ARGS_BYTES = 6 * MAX_CONTENT_BYTES + 64 * 1024;

const INPUT = {
  type: 'object',
  additionalProperties: false,
  required: ['path', 'content'],
  properties: {
    path: {
      type: 'string',
      pattern: '\\S',
      description: 'The file to write, relative to the working directory.',
    },
    content: { type: 'string', description: 'The text to write; at most 10 MiB.' },
    mode: {
      type: 'string',
      enum: ['create', 'overwrite', 'append'],
      description:
        '"create" (default) fails if the file exists; "overwrite" replaces it; "append" adds to its end. ' +
        'All of them create a missing file.',
    },
  },
} as const;

/**
 * `write_file` (D075, C008–C010, F006 and F023): whole files, missing parent directories included. Overwriting
 * refuses a file that changed since this conversation read it.
 */
export function writeFileTool(options: WriteFileOptions = {}): ToolSpec<WriteFileArgs> {
  return {
    name: 'write_file',
    aliases: TOOL_NAMES.write_file,
    title: 'Write File',
    description:
      'Writes text to a file and creates missing parent directories. By default the file must not exist yet; ' +
      'see mode for replacing it or adding to it.',
    input: INPUT,
    category: 'file',
    maxArgsBytes: MAX_ARGS_BYTES,
    touches: ['write'],
    effects: (args) => {
      contentBytes(args.content);
      assertNotRedacted('content', [args.content]);
      return [{ kind: 'write', path: args.path }];
    },
    summarize: (args) => `${VERBS[args.mode ?? 'create']} ${args.path} (${contentBytes(args.content)} bytes)`,
    execute: async (args, ctx) => {
      contentBytes(args.content);
      return writeFile(args, ctx, options.now);
    },
    probe: probeFiles,
  };
}

const VERBS: Readonly<Record<WriteMode, string>> = {
  create: 'Create',
  overwrite: 'Overwrite',
  append: 'Append to',
};

/** @throws ToolError `limit_exceeded` for more than 10 MiB. */
function contentBytes(content: string): number {
  const size = Buffer.byteLength(content, 'utf8');
  if (size <= MAX_CONTENT_BYTES) return size;
  throw new ToolError('limit_exceeded', `content too large: ${size} bytes (max: ${MAX_CONTENT_BYTES} bytes)`);
}

const writeFile = onFirstUse(async () => (await import('./write-file.js')).writeFile);
