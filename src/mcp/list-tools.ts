import type { Client, McpSubscription } from '@modelcontextprotocol/client';
import { idleClock, systemClock } from '../platform/clock/clock.js';
import { isMalformedList, type MalformedTools, readSentLists, type SentLists } from './malformed-tools.js';
import { type SeenTool, toSeenTool } from './tool-pins.js';

/** A server may return pages without end; such a list is refused. */
const MOST_PAGES = 1_000;
const MOST_TOOLS = 10_000;
/** The pause before a list is read again after a change. */
const LEAST_PAUSE_MS = 200;

/** The tools of a server's list. */
export interface OfferedTools {
  readonly tools: readonly SeenTool[];
  /** Those that cannot be called. They hide no others. */
  readonly malformed: MalformedTools;
}

/** All tools that a server offers. @throws errors of the SDK; Error for an endless list */
export async function listUpstreamTools(client: Client, timeoutMs: number): Promise<OfferedTools> {
  if (client.transport === undefined) throw new Error('its connection has ended.');
  const sent = readSentLists(client.transport);
  try {
    return await readList(client, timeoutMs, sent);
  } catch (error) {
    if (sent.isFiltered || !isMalformedList(error)) throw error;
    sent.isFiltered = true;
    return readList(client, timeoutMs, sent);
  }
}

async function readList(client: Client, timeoutMs: number, sent: SentLists): Promise<OfferedTools> {
  sent.malformed.clear();
  sent.tasks.clear();
  const tools = new Map<string, SeenTool>();
  const repeated = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await client.listTools(cursor === undefined ? {} : { cursor }, {
      timeout: timeoutMs,
      // A list that the program has read before does not say what the server offers now.
      cacheMode: 'refresh',
    });
    for (const tool of answer.tools) {
      if (tools.has(tool.name)) repeated.add(tool.name);
      tools.set(tool.name, toSeenTool(tool));
    }
    if (tools.size > MOST_TOOLS) throw new Error(`it offers more than ${MOST_TOOLS} tools`);
    if (answer.nextCursor === undefined || answer.nextCursor === cursor) {
      const malformed = new Map(sent.malformed);
      for (const name of sent.tasks)
        malformed.set(name, 'it runs only as a task, and tasks are not supported');
      // A call of such a name could mean either of them.
      for (const name of repeated) malformed.set(name, 'it is offered twice');
      for (const name of malformed.keys()) tools.delete(name);
      return { tools: [...tools.values()], malformed };
    }
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
  const changed = (): void => {
    isStale = true;
    if (!isReading) readAgain();
  };
  client.setNotificationHandler('notifications/tools/list_changed', changed);
  if (client.getServerCapabilities()?.tools?.listChanged === true) void subscribe(client, changed);
}

const FIRST_RENEWAL_MS = 1_000;
const LONGEST_RENEWAL_MS = 60_000;

/**
 * Since revision 2026-07-28 a server reports changes only to clients that have subscribed. A subscription ends with its
 * stream, so it is renewed as long as the client is connected; meanwhile a change may have been missed. Never rejects.
 */
async function subscribe(client: Client, changed: () => void): Promise<void> {
  let pauseMs = FIRST_RENEWAL_MS;
  for (let isFirst = true; client.transport !== undefined; isFirst = false) {
    const startedAt = systemClock.monotonic();
    try {
      const { honoredFilter, closed } = await subscriptionOf(client);
      if (honoredFilter.toolsListChanged !== true) return;
      if (!isFirst) changed();
      if ((await closed) === 'local') return;
    } catch {
      // A server of an older revision reports changes unasked, and others may refuse.
      if (isFirst) return;
    }
    const hasLasted = systemClock.monotonic() - startedAt > LONGEST_RENEWAL_MS;
    pauseMs = hasLasted ? FIRST_RENEWAL_MS : Math.min(2 * pauseMs, LONGEST_RENEWAL_MS);
    await new Promise<void>((resolve) => idleClock.after(pauseMs, resolve));
  }
}

/** The client's own subscription, if the program has asked for one and it is still open. */
async function subscriptionOf(client: Client): Promise<McpSubscription> {
  const { autoOpenedSubscription: own } = client;
  const isOpen = own !== undefined && (await Promise.race([own.closed, 'open'])) === 'open';
  return isOpen ? own : client.listen({ toolsListChanged: true });
}
