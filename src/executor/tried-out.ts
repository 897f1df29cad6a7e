import type { ToolResult } from '../contract/call.js';
import type { Preview } from '../contract/executor.js';

/** The results of a preview of which nothing is kept. */
export async function triedOut(previewing: Promise<Preview>): Promise<ToolResult[]> {
  await using preview = await previewing;
  return [...preview.results];
}
