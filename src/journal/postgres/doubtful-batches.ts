import type { ToolResult } from '../../contract/call.js';
import type { Acceptance, BatchEntry, CallEntry } from '../../contract/journal.js';
import { isToolError } from '../../errors/tool-error.js';
import { idleClock } from '../../platform/clock/clock.js';
import { toStoredText } from '../records/stored-text.js';
import type { Work } from './connections.js';
import type { WrittenResult } from './keep-contents.js';
import { finishCall } from './record-progress.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Batches that were refused as `journal_unavailable` although the server may have recorded them, because its answer
 * came too late. Later deliveries of their calls would wait for this process, which runs none of them. So the batches
 * are sent again: then their state is certain, and their calls get the same answer as the caller.
 */
export class DoubtfulBatches {
  #isEnded = false;

  /** @param ask runs work in the lane of the batch, and rejects if that is not possible now */
  add(
    tenant: string,
    entry: BatchEntry,
    accept: Work<readonly Acceptance[]>,
    ask: (work: Work<void>) => Promise<void>,
  ): void {
    void this.#withdraw(() => ask(withdraw(tenant, entry, accept)));
  }

  /** Stops trying. When this process has ended, the remaining calls count as those of a dead process. */
  end(): void {
    this.#isEnded = true;
  }

  async #withdraw(attempt: () => Promise<void>): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; !this.#isEnded; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        await attempt();
        return;
      } catch {
        await new Promise<void>((resolve) => void idleClock.after(pauseMs, resolve));
      }
    }
  }
}

function withdraw(tenant: string, entry: BatchEntry, accept: Work<readonly Acceptance[]>): Work<void> {
  return async (connection) => {
    let answers: readonly Acceptance[];
    try {
      answers = await accept(connection, true);
    } catch (error) {
      // The id belongs to another batch: this one is not recorded.
      if (isToolError(error)) return;
      throw error;
    }
    for (const [position, call] of entry.calls.entries()) {
      if (answers[position]?.kind !== 'fresh') continue;
      const place = { batch: toStoredText(entry.id), position };
      // A worker that already runs the call keeps it.
      await finishCall(tenant, place, refusalOf(call), entry.at, 'queued')(connection, true);
    }
  };
}

function refusalOf({ callId, toolName }: CallEntry): WrittenResult {
  const refusal: ToolResult = {
    callId,
    toolName,
    success: false,
    output: '',
    truncated: false,
    executionTimeMs: 0,
    metadata: {},
    error: {
      code: 'journal_unavailable',
      message: 'The journal did not answer in time, so the call was not run.',
      details: { executed: 'no' },
    },
  };
  return { text: JSON.stringify(refusal), contents: new Map(), error: refusal.error };
}
