import type { ToolResult } from '../../contract/call.js';
import type { Journal } from '../../contract/journal.js';
import { callKey } from '../../journal/records/call-key.js';
import { madeUpIn } from '../call/calls.js';
import type { ExecutorSettings } from '../call/settings.js';
import type { ReceivedStream } from './stream-record.js';

/** Calls that arrived and will not run, each with its answer. */
export interface ReceivedCalls extends ReceivedStream {
  readonly results: readonly ToolResult[];
}

/**
 * Records arrived calls as a batch, each with its answer. Returns false if there is nothing to record, or the
 * batch is already recorded.
 */
export async function recordReceived(
  journal: Journal,
  { clock, worker, logger }: Pick<ExecutorSettings, 'clock' | 'worker' | 'logger'>,
  received: ReceivedCalls,
): Promise<boolean> {
  const { results, calls, turn, ...batch } = received;
  const at = clock.now();
  try {
    const answers = await journal.accept({
      ...batch,
      at,
      worker,
      calls: calls.map(({ id, name, args, ...identity }) => ({
        callId: id,
        toolName: name,
        args,
        ...madeUpIn(identity, turn),
        effects: [],
        disposition: 'pre_resolved',
        reason: 'its response was interrupted',
      })),
    });
    // A call that attached keeps the answer of its first delivery. If the conversation waits for the person,
    // nothing was recorded.
    const ended = answers.map(({ kind }, index) => {
      const result = results[index];
      if (result === undefined || (kind !== 'fresh' && kind !== 'conflict')) return undefined;
      return journal.finish(callKey(batch.id, index), result, at, worker);
    });
    await Promise.all(ended);
    return ended.some((each) => each !== undefined);
  } catch (error) {
    // Another process, or the batch's own process, has already recorded the batch.
    if ((await journal.batch(batch.id)).length === 0) throw error;
    logger.debug({ batch: batch.id }, 'a batch that came in was recorded before');
    return false;
  }
}
