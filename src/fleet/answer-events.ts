import { onAbort } from '../base/on-abort.js';
import type { Clock } from '../contract/context.js';
import type { FeedEvent, FeedReader } from './feed-reader.js';

/** A stream without an event sends a comment after this time, so that proxies keep it open. */
const HEARTBEAT_MS = 15_000;

interface EventsParts {
  readonly clock: Clock;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  /** Aborts when the client disconnects. */
  readonly gone: AbortSignal;
  /** Called once, at the end. */
  readonly left: () => void;
}

/** Sends a reader's events as server-sent events, until either side ends the stream. */
export function answerEvents(reader: FeedReader, { clock, closing, gone, left }: EventsParts): Response {
  const end = (): void => {
    reader.end();
    left();
  };
  const stop = onAbort(gone, end);
  const bytes = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(bytes.encode(': connected\n\n')),
      // Called when the client has received the data: the events of a slow client wait in its reader.
      async pull(controller) {
        const events = closing.aborted ? undefined : await reader.next(HEARTBEAT_MS, clock);
        if (events === undefined) {
          stop();
          controller.close();
          return;
        }
        controller.enqueue(
          bytes.encode(events.length === 0 ? ': still here\n\n' : events.map(toText).join('')),
        );
      },
      cancel() {
        stop();
        end();
      },
    },
    { highWaterMark: 1 },
  );
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
  });
}

function toText({ type, data, id }: FeedEvent): string {
  return `event: ${type}\ndata: ${data}\n${id === '' ? '' : `id: ${id}\n`}\n`;
}
