import type { Client } from '@modelcontextprotocol/client';
import { type SeenTool, toSeenTool } from './tool-pins.js';

/** A server that goes on for ever is no list. */
const MOST_PAGES = 1_000;

/**
 * All tools that a server offers. @throws errors of the SDK; Error for a list without an end, or with a name
 * twice
 */
export async function listUpstreamTools(client: Client, timeoutMs: number): Promise<readonly SeenTool[]> {
  const tools = new Map<string, SeenTool>();
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: timeoutMs });
    for (const tool of answer.tools) {
      if (tools.has(tool.name)) throw new Error(`it offers "${tool.name}" twice`);
      tools.set(tool.name, toSeenTool(tool));
    }
    if (answer.nextCursor === undefined || answer.nextCursor === cursor) return [...tools.values()];
    cursor = answer.nextCursor;
  }
  throw new Error(`its list of tools has more than ${MOST_PAGES} pages`);
}
