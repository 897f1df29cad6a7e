import type { ToolContext } from '../../contract/context.js';
import { ToolError } from '../../errors/tool-error.js';

/** Bytes of text that one read may give: `min(max_file_read_bytes, available capacity)`. */
export function readLimit(ctx: ToolContext): number {
  return Math.min(ctx.limits.maxFileReadBytes, ctx.limits.availableCapacityBytes);
}

/** The answer for a file that is larger than the read limit; names its size where it can be told. */
export async function tooLarge(path: string, limit: number, ctx: ToolContext): Promise<ToolError> {
  const stat = await ctx.files.stat(path);
  const size = stat.type === 'file' ? `${stat.size} bytes` : 'more bytes than that';
  return new ToolError(
    'execution_failed',
    `file too large: ${path} (${size}; one read gives at most ${limit}). ` +
      'Read it in line ranges with start_line and end_line, or in smaller slices with offset and limit.',
  );
}
