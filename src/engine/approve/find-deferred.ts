import type { CallRecord, Journal } from '../../contract/journal.js';
import { ToolError } from '../../errors/tool-error.js';

/**
 * The calls of a batch that waits for approval, in order.
 * @throws ToolError `bad_args` when it does not wait for that (any more), `journal_unavailable`.
 */
export async function findDeferred(journal: Journal | null, batchId: string): Promise<readonly CallRecord[]> {
  const calls = journal === null ? [] : await journal.batch(batchId);
  if (journal !== null && calls.length > 0 && (await waitsFor(journal, batchId)) === 'approval') return calls;
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
