import { onFirstUse } from '../../base/on-first-use.js';
import type { ContentBlock } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import type { ToolSpec } from '../../contract/tool.js';
import { TOOL_NAMES } from '../tool-names.js';
import { describeRange, parseReadRange } from './read-range.js';

export interface ReadFileArgs {
  readonly path: string;
  readonly start_line?: number;
  readonly end_line?: number;
  readonly offset?: number;
  readonly limit?: number;
}

export interface ReadFileOptions {
  /** Milliseconds since the epoch: when a read is recorded. Left out: records carry no time. */
  readonly now?: () => number;
}

/** What one way of reading produced. */
export interface ReadOutcome {
  readonly text: string;
  readonly content?: readonly ContentBlock[];
  readonly metadata: JsonObject;
  readonly truncatable: boolean;
  readonly truncated?: boolean;
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
 * `read_file` (D063–D065, C036): text as it is, a picture or a PDF as such, other binary as base64 under
 * a `[binary:base64]` header.
 * Remembers the content's hash for stale-file protection (D071).
 */
export function readFileTool(options: ReadFileOptions = {}): ToolSpec<ReadFileArgs> {
  return {
    name: 'read_file',
    aliases: TOOL_NAMES.read_file,
    title: 'Read File',
    description:
      'Reads a file: as a whole, a range of lines (start_line, end_line) or a slice of bytes (offset, limit). ' +
      'Text comes unchanged; a whole picture (PNG, JPEG, GIF, WebP) or PDF comes as such; another binary file comes as ' +
      'base64 after a line "[binary:base64]". ' +
      'Large files have to be read in ranges.',
    input: INPUT,
    category: 'file',
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

const readFile = onFirstUse(async () => (await import('./read-file.js')).readFile);
