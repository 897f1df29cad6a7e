import type { ProbeContext } from '../../contract/tool.js';
import { errnoOf } from '../errno-of.js';
import type { WriteFileArgs } from './write-file-tool.js';

/**
 * After a crash: writes are atomic, so the file holds the content or nothing of it. A file with other content may
 * have been written and changed since; an append cannot be told from what was there before.
 */
export async function probeWrite(
  args: WriteFileArgs,
  ctx: ProbeContext,
): Promise<'applied' | 'not_applied' | 'unknown'> {
  try {
    const found = await ctx.files.read(args.path);
    if (args.mode === 'append') return 'unknown';
    return Buffer.from(args.content, 'utf8').equals(found) ? 'applied' : 'unknown';
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? 'not_applied' : 'unknown';
  }
}
