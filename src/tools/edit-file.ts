import type { ToolContext } from '../contract/context.js';
import type { ContainedFiles } from '../contract/files.js';
import type { ToolOutput, ToolSpec } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import { assertNotRedacted, MAX_EDITED_BYTES, probeFiles, readIfThere } from './changed-files.js';
import { assertFresh, canonicalPath, fileRecord, filesRead, sha256Of } from './files-read.js';
import { missingText } from './missing-text.js';
import { explainMissing } from './suggestions/explain-missing.js';
import { throwIfAborted } from './yield-to-loop.js';

export interface EditFileArgs {
  readonly path?: string;
  readonly file_path?: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean;
}

export interface EditFileOptions {
  /** Milliseconds since the epoch, to date recorded edits. If absent: records have no time. */
  readonly now?: () => number;
}

/** Twice the maximum size of a file that is written whole, with every byte escaped. */
const MAX_ARGS_BYTES = 6 * 2 * 10 * 1024 * 1024 + 64 * 1024;

const INPUT = {
  type: 'object',
  additionalProperties: false,
  required: ['old_string', 'new_string'],
  properties: {
    path: {
      type: 'string',
      pattern: '\\S',
      description: 'The file to change, relative to the working directory. Required.',
    },
    file_path: { type: 'string', pattern: '\\S', description: 'Another name for path.' },
    old_string: {
      type: 'string',
      description:
        'The text to replace, exactly as it stands in the file: indentation, line ends and all. It must occur exactly once, ' +
        'unless replace_all is true: include enough lines around it to make it unique.',
    },
    new_string: {
      type: 'string',
      description: 'The text to put in its place, taken literally; empty deletes.',
    },
    replace_all: { type: 'boolean', description: 'Replace every occurrence. Default: false.' },
  },
} as const;

/**
 * `edit_file` (C028, F023): exact replacement in one file. It never guesses: a text that is missing, or
 * occurs several times, is an error that says where to look.
 */
export function editFileTool(options: EditFileOptions = {}): ToolSpec<EditFileArgs> {
  return {
    name: 'edit_file',
    aliases: ['Edit', 'edit'],
    title: 'Edit File',
    description:
      'Replaces a text in a file by another, exactly. Everything else in the file stays as it is, byte by byte.',
    input: INPUT,
    explainArgs: missingText(INPUT),
    category: 'file',
    contained: true,
    maxArgsBytes: MAX_ARGS_BYTES,
    touches: ['write'],
    effects: (args) => {
      const path = checkedPath(args);
      return [{ kind: 'write', path }];
    },
    summarize: (args) => `Edit ${checkedPath(args)}${args.replace_all === true ? ' (every occurrence)' : ''}`,
    execute: async (args, ctx) => editFile({ ...args, path: checkedPath(args) }, ctx, options.now),
    previewChanges: async (args, { files }) => {
      const path = checkedPath(args);
      return [{ path, bytes: replace(path, await readFile(path, files), { ...args, path }).edited }];
    },
    probe: probeFiles,
  };
}

/** @throws ToolError `bad_args` for arguments that cannot be an edit */
function checkedPath({ path, file_path: otherName, old_string, new_string }: EditFileArgs): string {
  const named = path ?? otherName;
  if (named === undefined) {
    throw new ToolError(
      'bad_args',
      "missing or invalid 'file_path' parameter: give path, the file to change.",
    );
  }
  if (path !== undefined && otherName !== undefined && path !== otherName) {
    throw new ToolError('bad_args', 'path and file_path name different files. Give path alone.');
  }
  if (old_string === '') {
    throw new ToolError(
      'bad_args',
      "missing or invalid 'old_string' parameter: it is empty. Give the text to replace; write_file creates files.",
    );
  }
  if (old_string === new_string) {
    throw new ToolError('bad_args', 'old_string and new_string are the same: nothing would change.');
  }
  assertNotRedacted('new_string', [new_string]);
  return named;
}

/** Checked arguments, which name one file. */
type Edit = EditFileArgs & { readonly path: string };

async function editFile(args: Edit, ctx: ToolContext, now: (() => number) | undefined): Promise<ToolOutput> {
  const { path } = args;
  const bytes = await readFile(path, ctx.files);
  const before = sha256Of(bytes);
  const canonical = canonicalPath(ctx, path);
  const known = filesRead(ctx.memory);
  await known.refresh();
  assertFresh({ path, canonical, sha256: before }, known, { action: 'edit', mustBeRead: false });
  const { edited, count, lines } = replace(path, bytes, args);
  throwIfAborted(ctx);
  await ctx.files.writeAll([{ path, bytes: edited, expectedSha256: before }]);
  const after = sha256Of(edited);
  known.set(canonical, fileRecord(after, now));
  return {
    text: `Successfully replaced ${count} occurrence(s) in ${path}`,
    metadata: { path: canonical, replacements: count, lines, sha256_before: before, sha256_after: after },
  };
}

async function readFile(path: string, files: ContainedFiles): Promise<Buffer> {
  const found = await readIfThere(path, files);
  if (found !== undefined) return Buffer.from(found.buffer, found.byteOffset, found.byteLength);
  throw new ToolError('execution_failed', `file not found: ${path}. Use write_file to create it.`, {
    details: { errno: 'ENOENT', path },
  });
}

interface Edited {
  readonly edited: Buffer;
  readonly count: number;
  /** The lines of the first replacements, from 1. */
  readonly lines: number[];
}

function replace(path: string, bytes: Buffer, args: Edit): Edited {
  const sought = Buffer.from(args.old_string, 'utf8');
  const replacement = Buffer.from(args.new_string, 'utf8');
  const found = findOccurrences(bytes, sought);
  const { count, starts, overlap } = found;
  if (count === 0) throw notFound(path, bytes, args.old_string);
  const lines = lineNumbers(bytes, starts);
  if (args.replace_all !== true && (count > 1 || overlap)) throw ambiguous(path, found, lines);
  if (bytes.length + count * (replacement.length - sought.length) > MAX_EDITED_BYTES) {
    throw new ToolError('limit_exceeded', `${path} would become larger than ${MAX_EDITED_BYTES} bytes.`);
  }
  return { edited: replaceOccurrences(bytes, sought, replacement, count), count, lines };
}

function notFound(path: string, bytes: Buffer, sought: string): ToolError {
  const why = explainMissing(bytes.toString('utf8'), sought);
  return new ToolError('patch_failed', `old_string not found in ${path}. ${why}`, { details: { path } });
}

function ambiguous(path: string, { count, overlap }: Occurrences, lines: readonly number[]): ToolError {
  const more = count > lines.length ? ` and ${count - lines.length} more` : '';
  const where = count > 1 ? `lines ${lines.join(', ')}${more}` : `line ${lines[0]}, overlapping itself`;
  return new ToolError(
    'patch_failed',
    `old_string is not unique in ${path}: it appears ${overlap && count === 1 ? 2 : count} times (${where}). ` +
      'Include more of the text around the one that you mean, or set replace_all to true.',
    { details: { path, count, lines: [...lines] } },
  );
}

/** The occurrences of a byte sequence. */
interface Occurrences {
  /** The number of replacements without overlap. */
  readonly count: number;
  /** The first ones, at most twenty. */
  readonly starts: readonly number[];
  /** A match starts inside the first one: `aa` in `aaa`. */
  readonly overlap: boolean;
}

const LISTED = 20;

function findOccurrences(bytes: Buffer, sought: Uint8Array): Occurrences {
  const starts: number[] = [];
  let count = 0;
  for (let at = bytes.indexOf(sought); at !== -1; at = bytes.indexOf(sought, at + sought.length)) {
    count++;
    if (starts.length < LISTED) starts.push(at);
  }
  const [first] = starts;
  const next = first === undefined ? -1 : bytes.indexOf(sought, first + 1);
  return { count, starts, overlap: first !== undefined && next !== -1 && next < first + sought.length };
}

/** Replaces all from the left; the bytes between them are copied. */
function replaceOccurrences(
  bytes: Buffer,
  sought: Uint8Array,
  replacement: Uint8Array,
  count: number,
): Buffer {
  const result = Buffer.allocUnsafe(bytes.length + count * (replacement.length - sought.length));
  let from = 0;
  let to = 0;
  for (let at = bytes.indexOf(sought); at !== -1; at = bytes.indexOf(sought, from)) {
    to += bytes.copy(result, to, from, at);
    result.set(replacement, to);
    to += replacement.length;
    from = at + sought.length;
  }
  bytes.copy(result, to, from);
  return result;
}

/** The line numbers, from 1, of ascending offsets. */
function lineNumbers(bytes: Buffer, offsets: readonly number[]): number[] {
  let line = 1;
  let next = bytes.indexOf(LF);
  return offsets.map((offset) => {
    for (; next !== -1 && next < offset; next = bytes.indexOf(LF, next + 1)) line++;
    return line;
  });
}

const LF = 0x0a;
