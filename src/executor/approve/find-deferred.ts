import type { CallRecord, Journal } from '../../contract/journal.js';
import { ToolError } from '../../errors/tool-error.js';

export interface DeferredBatch {
  readonly id: string;
  readonly conversation: string;
  /** Whether its deliveries attach: else its calls are calls of their own, as they were when it was put off. */
  readonly attach: boolean;
  /** In order; one that was delivered before is another batch's. */
  readonly calls: readonly CallRecord[];
}

/**
 * A batch that waits for approval.
 * @throws ToolError `bad_args` when it does not wait for that (any more), `journal_unavailable`.
 */
export async function findDeferred(journal: Journal | null, batchId: string): Promise<DeferredBatch> {
  const calls = journal === null ? [] : await journal.batch(batchId);
  // What waits has calls of its own.
  const own = calls.find((call) => call.batchId === batchId);
  if (journal !== null && own !== undefined && (await waitsFor(journal, batchId)) === 'approval') {
    const { conversation } = own;
    const waiting = await journal.batches({ conversation, waiting: true });
    const attach = waiting.find(({ id }) => id === batchId)?.attach ?? true;
    return { id: batchId, conversation, attach, calls };
  }
  throw new ToolError('bad_args', `Cannot approve batch "${batchId}": it does not wait for approval.`);
}

/** What a batch waits for; undefined where it does not. */
export async function waitsFor(
  journal: Journal,
  batchId: string,
): Promise<'approval' | 'recovery' | undefined> {
  const last = (await journal.decisions(batchId)).at(-1);
  if (last?.kind !== 'wait') return undefined;
  return last.data.why === 'approval' ? 'approval' : 'recovery';
}
