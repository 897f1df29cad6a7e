import type { Client } from '@modelcontextprotocol/client';
import { systemClock } from '../platform/clock/clock.js';
import { type SeenTool, toSeenTool } from './tool-pins.js';

/** A server may return pages without end; such a list is refused. */
const MOST_PAGES = 1_000;
const MOST_TOOLS = 10_000;
/** The pause before a list is read again after a change. */
const LEAST_PAUSE_MS = 200;

/**
 * All tools that a server offers. @throws errors of the SDK; Error for an endless list, or one that contains a name
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
    if (tools.size > MOST_TOOLS) throw new Error(`it offers more than ${MOST_TOOLS} tools`);
    if (answer.nextCursor === undefined || answer.nextCursor === cursor) return [...tools.values()];
    cursor = answer.nextCursor;
  }
  throw new Error(`its list of tools has more than ${MOST_PAGES} pages`);
}

/**
 * Reads a server's list again whenever the server reports a change. Only one read runs at a time; all changes reported
 * during it cause one more read. A list that cannot be read changes nothing.
 */
export function followList(client: Client, read: () => Promise<void>): void {
  let isReading = false;
  let isStale = false;
  const readAgain = (): void => {
    isReading = true;
    isStale = false;
    void read()
      .catch(() => {})
      .then(() =>
        systemClock.after(LEAST_PAUSE_MS, () => {
          isReading = false;
          if (isStale) readAgain();
        }),
      );
  };
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    isStale = true;
    if (!isReading) readAgain();
  });
}
