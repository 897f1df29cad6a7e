import type { ToolResult } from '../../contract/call.js';
import type { Journal } from '../../contract/journal.js';
import type { Origin } from '../../contract/origin.js';
import { isOrigin } from '../../patterns/origin.js';
import { MOST_BYTES } from '../../provenance/conversation-origins.js';

/** A result that a conversation has seen. */
export interface RecordedText {
  readonly callId: string;
  readonly origin: readonly Origin[];
  readonly result: ToolResult;
}

/** The number of batches that are read at once. */
const PAGE = 50;

/**
 * The newest results of a conversation in a journal, oldest first: as many as a conversation keeps in memory.
 * @param since results of calls that were finished earlier are left out; in milliseconds since the epoch
 */
export async function recordedTexts(
  journal: Pick<Journal, 'batches' | 'batch'>,
  conversation: string,
  since: number,
): Promise<readonly RecordedText[]> {
  const found: RecordedText[] = [];
  let last: string | undefined;
  let characters = 0;
  for (;;) {
    const place = last === undefined ? {} : { before: last };
    const page = await journal.batches({ conversation, limit: PAGE, ...place });
    const batches = await Promise.all(page.map(async ({ id }) => journal.batch(id)));
    // A deferred call may have been accepted before that time.
    const later = batches
      .flatMap((calls) => calls.toReversed())
      .filter(({ finishedAt = Number.POSITIVE_INFINITY }) => finishedAt >= since);
    for (const { callId, result } of later) {
      const origin = result?.metadata.origin;
      if (result === undefined || !Array.isArray(origin)) continue;
      found.push({ callId, origin: origin.filter(isOrigin), result });
      characters += result.output.length;
    }
    if (characters > MOST_BYTES || later.length === 0 || page.length < PAGE) return found.reverse();
    last = page.at(-1)?.id;
  }
}
