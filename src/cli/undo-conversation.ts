import type { Executor, UndoReport } from '../contract/executor.js';
import type { CallRecord } from '../contract/journal.js';
import { isAllReads } from '../effects/traits.js';
import { isToolError } from '../errors/tool-error.js';
import type { JournalArchive } from '../journal/open-archive.js';
import { systemClock } from '../platform/clock/clock.js';

/** The result for one call when several calls are undone. */
export type CallUndo =
  | ({ readonly toolName: string } & UndoReport)
  /** No part of it can be undone. */
  | { readonly toolName: string; readonly callId: string; readonly reason: string };

export interface UndoneSince {
  readonly conversation: string;
  /** Only calls that began within this time; milliseconds. If absent: all. */
  readonly sinceMs?: number;
  readonly dryRun: boolean;
}

/** The calls of a conversation that may have changed something; those that began last come first. */
export function callsToUndo(
  archive: JournalArchive,
  { conversation, sinceMs = Number.POSITIVE_INFINITY }: UndoneSince,
): readonly CallRecord[] {
  const earliest = systemClock.now() - sinceMs;
  const seen = new Set<string>();
  const calls = archive.batches({ conversation }).flatMap(({ id }) =>
    archive
      .calls(id)
      .toReversed()
      .filter((call) => {
        const isNew = !seen.has(call.key);
        seen.add(call.key);
        return isNew && beganAt(call) >= earliest && mayHaveChanged(call);
      }),
  );
  // A call that waited for approval may have run after the calls of later batches.
  return calls.sort((one, other) => beganAt(other) - beganAt(one));
}

function beganAt({ startedAt, acceptedAt }: CallRecord): number {
  return startedAt ?? acceptedAt;
}

function mayHaveChanged({ toolName, worker, effects, result }: CallRecord): boolean {
  if (toolName === 'undo' || worker === undefined || isAllReads(effects)) return false;
  return result?.error?.details?.executed !== 'no';
}

/** Undoes the calls in this order; one that cannot be undone does not stop the others. */
export async function* undoEach(
  executor: Executor,
  calls: readonly CallRecord[],
  { conversation, dryRun }: UndoneSince,
): AsyncGenerator<CallUndo> {
  for (const { callId, toolName, batchId } of calls) {
    try {
      // A call that ran again has the same id in several batches.
      yield { toolName, ...(await executor.undo(callId, { conversation, batchId, dryRun })) };
    } catch (error) {
      if (!isToolError(error)) throw error;
      yield { toolName, callId, reason: error.message };
    }
  }
}
