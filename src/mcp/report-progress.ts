import type { ServerContext } from '@modelcontextprotocol/server';
import type { ToolEvent } from '../contract/executor.js';
import { systemClock } from '../platform/clock/clock.js';

/** Clients do not draw faster than this, and each report is a message. */
const LEAST_PAUSE_MS = 100;
/** The maximum output since the last report; if there is more, only its end is sent. */
const MOST_CHARACTERS = 4_000;

/**
 * Sends the output and the progress of a call to the client that requested it. The result contains all of it too.
 * Resolves when the events have ended. Never rejects.
 * @param attending the current request of the client, if there is one
 */
export async function reportProgress(
  events: AsyncIterable<ToolEvent>,
  attending: () => ServerContext | undefined,
): Promise<void> {
  let progress = 0;
  let text = '';
  let lastAt = Number.NEGATIVE_INFINITY;
  const send = async (): Promise<void> => {
    const { mcpReq } = attending() ?? {};
    const progressToken = mcpReq?._meta?.progressToken;
    if (text === '' || mcpReq === undefined || progressToken === undefined) return;
    const message = text.slice(-MOST_CHARACTERS);
    text = '';
    progress += 1;
    lastAt = systemClock.monotonic();
    // A client that has disconnected has cancelled the call: the signal reports that.
    await mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
      .catch(() => {});
  };
  let timer: (() => void) | undefined;
  try {
    for await (const event of events) {
      text += textOf(event);
      if (text === '' || timer !== undefined) continue;
      const pauseMs = lastAt + LEAST_PAUSE_MS - systemClock.monotonic();
      if (pauseMs <= 0) await send();
      else
        timer = systemClock.after(pauseMs, () => {
          timer = undefined;
          void send();
        });
    }
  } catch {
    // The results contain the reason.
  }
  timer?.();
  await send();
}

function textOf(event: ToolEvent): string {
  if (event.type === 'stdout' || event.type === 'stderr') return event.chunk;
  return event.type === 'progress' ? `${event.message}\n` : '';
}
