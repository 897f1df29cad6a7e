import type { ToolContext } from '../../contract/context.js';
import type { WriteMode, WriteOutcome } from '../../contract/files.js';
import type { ToolOutput } from '../../contract/tool.js';
import { writeErrorFor } from './write-error.js';
import type { WriteFileArgs } from './write-file-tool.js';
import { type KnownContent, knownContent, rememberWrite } from './written-file.js';

export async function writeFile(
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

/** What was looked at before it is replaced must be what is replaced: another process may be writing as well. */
async function put({ path, bytes, mode, known }: NewContent, { files }: ToolContext): Promise<WriteOutcome> {
  if (mode !== 'overwrite' || known === undefined) return files.write(path, bytes, { mode });
  const [written] = await files.writeAll([{ path, bytes, expectedSha256: known.sha256 }]);
  return written ?? { path, created: false, bytesWritten: bytes.length };
}
