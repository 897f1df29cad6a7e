import type { ToolContext } from '../../contract/context.js';
import type { ToolOutput } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import { canonicalPath, fileRecord, filesRead, sha256Of } from '../files-read.js';
import { explainMissing } from '../near-miss/explain-missing.js';
import { MAX_EDITED_BYTES, readIfThere } from '../read-if-there.js';
import { assertFresh } from '../stale-file.js';
import { throwIfAborted } from '../yield-to-loop.js';
import type { EditFileArgs } from './edit-file-tool.js';
import { type Occurrences, findOccurrences, lineNumbers, replaceOccurrences } from './find-occurrences.js';

/** Arguments that were checked: they name one file. */
export type Edit = EditFileArgs & { readonly path: string };

export async function editFile(
  args: Edit,
  ctx: ToolContext,
  now: (() => number) | undefined,
): Promise<ToolOutput> {
  const { path } = args;
  const found = await readIfThere(path, ctx.files);
  if (found === undefined) {
    throw new ToolError('execution_failed', `file not found: ${path}. Use write_file to create it.`, {
      details: { errno: 'ENOENT', path },
    });
  }
  const bytes = Buffer.from(found.buffer, found.byteOffset, found.byteLength);
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

interface Edited {
  readonly edited: Buffer;
  readonly count: number;
  /** Where the first replacements were made, from 1. */
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
      'Take in more of the text around the one that is meant, or set replace_all to true.',
    { details: { path, count, lines: [...lines] } },
  );
}
