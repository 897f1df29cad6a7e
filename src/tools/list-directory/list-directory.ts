import type { ToolContext } from '../../contract/context.js';
import type { ToolOutput } from '../../contract/tool.js';
import { canonicalPath } from '../files-read.js';
import { outputLimit } from '../output-limit.js';
import type { ListRequest } from './list-request.js';
import { walkDirectory } from './walk-directory.js';
import { writeListing } from './write-listing.js';

export async function listDirectory(request: ListRequest, ctx: ToolContext): Promise<ToolOutput> {
  const walk = await walkDirectory(request, ctx);
  const maxBytes = outputLimit(ctx);
  const listing = writeListing(request, walk, maxBytes);
  if (listing === undefined) {
    // Not cut either: half of this sentence would not say what is wrong.
    const message = `list_directory failed: output budget too small: ${maxBytes} bytes cannot hold even an empty listing`;
    return { text: '', truncatable: false, error: { code: 'execution_failed', message } };
  }
  return {
    text: listing.text,
    truncatable: false,
    truncated: listing.truncatedReason !== null,
    metadata: {
      path: canonicalPath(ctx, request.path),
      returned: listing.returned,
      truncated: listing.truncatedReason !== null,
      truncated_reason: listing.truncatedReason,
    },
  };
}
