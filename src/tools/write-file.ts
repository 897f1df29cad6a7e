import type { ConversationMemory, ToolContext } from '../contract/context.js';
import type { ContainedFiles, FileStat, WriteMode, WriteOutcome } from '../contract/files.js';
import type { ToolOutput, ToolSpec } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import { assertNotRedacted, errnoOf, probeFiles, readIfThere } from './changed-files.js';
import { assertFresh, canonicalPath, fileRecord, filesRead, sha256Of } from './files-read.js';
import { missingText } from './missing-text.js';

export interface WriteFileArgs {
  readonly path: string;
  readonly content: string;
  readonly mode?: WriteMode;
}

export interface WriteFileOptions {
  /** Milliseconds since the epoch, to date recorded writes. If absent: records have no time. */
  readonly now?: () => number;
}

/** Maximum content of one call in bytes (C007). */
export const MAX_CONTENT_BYTES = 10 * 1024 * 1024;

/** A byte takes at most six in JSON (`\u0001`); the rest is for the path. */
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
 * `write_file` (D075, C008–C010, F006 and F023): writes whole files and creates missing parent directories.
 * Overwriting is refused if the file changed since this conversation read it.
 */
export function writeFileTool(options: WriteFileOptions = {}): ToolSpec<WriteFileArgs> {
  return {
    name: 'write_file',
    aliases: ['Write', 'file_write'],
    title: 'Write File',
    description:
      'Writes text to a file and creates missing parent directories. By default the file must not exist yet; ' +
      'see mode for replacing it or adding to it.',
    input: INPUT,
    explainArgs: missingText(INPUT),
    category: 'file',
    contained: true,
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
    previewChanges: async ({ path, content, mode = 'create' }, { files }) => {
      const bytes = Buffer.from(content, 'utf8');
      const isThere = mode !== 'overwrite' && (await isEntry(path, files));
      if (mode === 'create' && isThere) throw new ToolError('execution_failed', exists(path));
      if (!isThere) return [{ path, bytes }];
      const before = await files.read(path, { length: MAX_CONTENT_BYTES + 1 });
      // A long file is not read to append lines: the person sees only these.
      return before.length > MAX_CONTENT_BYTES ? [] : [{ path, bytes: Buffer.concat([before, bytes]) }];
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

async function writeFile(
  args: WriteFileArgs,
  ctx: ToolContext,
  now: (() => number) | undefined,
): Promise<ToolOutput> {
  const mode = args.mode ?? 'create';
  const bytes = Buffer.from(args.content, 'utf8');
  const known = await knownContent(args.path, mode, ctx);
  const written = await put({ path: args.path, bytes, mode, known }, ctx).catch(async (error: unknown) => {
    throw await writeErrorFor(args.path, error, ctx);
  });
  const { path, created } = written;
  rememberWrite({ path, created, mode, bytes, before: known?.bytes }, ctx.memory, now);
  return {
    text: `Successfully wrote ${bytes.length} bytes to ${args.path}`,
    metadata: { path: written.path, bytes_written: bytes.length, mode, created: written.created },
  };
}

interface NewContent {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly mode: WriteMode;
  readonly known: KnownContent | undefined;
}

/** The replaced content must be the examined one, because another process may be writing too. */
async function put({ path, bytes, mode, known }: NewContent, { files }: ToolContext): Promise<WriteOutcome> {
  if (mode !== 'overwrite' || known === undefined) return files.write(path, bytes, { mode });
  const [written] = await files.writeAll([{ path, bytes, expectedSha256: known.sha256 }]);
  return written ?? { path, created: false, bytesWritten: bytes.length };
}

/** The current content of a file that this conversation has seen. */
interface KnownContent {
  /** Undefined: the file was removed meanwhile, so nothing can be lost. */
  readonly bytes: Uint8Array | undefined;
  /** Null if there is no file. */
  readonly sha256: string | null;
}

/**
 * Reads the current content of a file that this conversation has seen; undefined if it has not, or if the
 * content is not needed.
 * @throws ToolError `stale_file` if a file to replace has changed since the read (F023).
 */
async function knownContent(
  path: string,
  mode: WriteMode,
  ctx: ToolContext,
): Promise<KnownContent | undefined> {
  if (mode === 'create') return undefined;
  const canonical = canonicalPath(ctx, path);
  const known = filesRead(ctx.memory);
  await known.refresh();
  const record = known.get(canonical);
  if (record === undefined) return undefined;
  const bytes = await readIfThere(path, ctx.files);
  if (bytes === undefined) return { bytes, sha256: null };
  const sha256 = sha256Of(bytes);
  if (sha256 !== record.sha256 && mode === 'append') return undefined;
  assertFresh({ path, canonical, sha256 }, known, { action: 'overwrite', mustBeRead: false });
  return { bytes, sha256 };
}

interface WrittenFile {
  /** The canonical path. */
  readonly path: string;
  readonly created: boolean;
  readonly mode: WriteMode;
  readonly bytes: Uint8Array;
  /** The previous content, if known. */
  readonly before: Uint8Array | undefined;
}

/** After our own write the record holds the new content, so that the next change is not stale (F018). */
function rememberWrite(file: WrittenFile, memory: ConversationMemory, now: (() => number) | undefined): void {
  const sha256 = hashAfter(file);
  if (sha256 !== undefined) filesRead(memory).set(file.path, fileRecord(sha256, now));
}

function hashAfter(file: WrittenFile): string | undefined {
  if (file.mode !== 'append' || file.created) return sha256Of(file.bytes);
  // Appending to an unread file says nothing about the whole, so the record stays.
  return file.before === undefined ? undefined : sha256Of(file.before, file.bytes);
}

/** Words a failed write so that a model can act on it; passes on refusals of the sandbox. */
async function writeErrorFor(path: string, error: unknown, ctx: ToolContext): Promise<unknown> {
  const errno = errnoOf(error);
  if (errno === undefined || !(error instanceof ToolError) || error.details.changed === true) return error;
  // The error code does not distinguish an existing target from a parent that is a file.
  const found = errno === 'EEXIST' || errno === 'EISDIR' ? await typeOf(path, ctx) : undefined;
  const message = found === undefined ? `failed to write ${path}: ${error.message}` : MESSAGES[found](path);
  return new ToolError('execution_failed', message, { cause: error, details: { errno } });
}

const exists = (path: string): string =>
  `file already exists: ${path}. Use mode "overwrite" to replace it, or "append" to add to it.`;

const MESSAGES: Readonly<Record<FileStat['type'], (path: string) => string>> = {
  file: exists,
  symlink: (path) => `failed to write ${path}: it is a symbolic link that leads nowhere it may be written.`,
  dir: (path) => `failed to write ${path}: it is a directory. Name a file.`,
  other: (path) => `failed to write ${path}: it is not a regular file.`,
};

async function isEntry(path: string, files: ContainedFiles): Promise<boolean> {
  try {
    await files.stat(path);
    return true;
  } catch {
    return false;
  }
}

async function typeOf(path: string, ctx: ToolContext): Promise<FileStat['type'] | undefined> {
  try {
    return (await ctx.files.stat(path)).type;
  } catch {
    return undefined;
  }
}
