import type { DecisionKind, Journal } from '../../contract/journal.js';
import { ToolError } from '../../errors/tool-error.js';
import { waitsFor } from '../approve/find-deferred.js';
import { failure } from '../record/results.js';
import type { EngineSettings } from '../settings.js';

/**
 * Ends the wait of a batch (D089): of one that was left half done either way; of one that was put off for approval only
 * by giving it up, because what is to run has to be agreed to.
 * @throws ToolError `bad_args` when it does not wait (any more), or for another decision.
 */
export async function decideBatch(
  batchId: string,
  kind: Exclude<DecisionKind, 'wait'>,
  { journal, clock }: Pick<EngineSettings, 'journal' | 'clock'>,
): Promise<void> {
  if (!['resume', 'discard'].includes(kind)) {
    const message = `Cannot decide about batch "${batchId}": ${JSON.stringify(kind)} is neither "resume" nor "discard".`;
    throw new ToolError('bad_args', message);
  }
  const why = journal === null ? undefined : await waitsFor(journal, batchId);
  if (why === 'approval' && kind === 'resume') {
    const remedy = 'It waits for approval: approve() it, with an approver that agrees or one that denies.';
    throw new ToolError('bad_args', `Cannot resume batch "${batchId}". ${remedy}`);
  }
  const at = clock.now();
  const data = { by: 'person', ...(why === 'approval' ? { why } : {}) };
  if (journal === null || why === undefined || !(await journal.decide(batchId, { kind, at, data }))) {
    const message = `Cannot ${kind} batch "${batchId}": it does not wait for a decision. recover() says which do.`;
    throw new ToolError('bad_args', message);
  }
  // Who dies before this has left calls that were never started: recovery says the same of them.
  if (why === 'approval') await endCalls(journal, batchId, at);
}

async function endCalls(journal: Journal, batchId: string, at: number): Promise<void> {
  const calls = await journal.batch(batchId);
  const open = calls.filter((call) => call.batchId === batchId && call.result === undefined);
  const message = 'Discarded by the user, who was to approve it. It was not run.';
  await Promise.all(
    open.map(({ key, callId, toolName }) =>
      journal.finish(key, failure({ id: callId, name: toolName }, 'cancelled', message, 'no'), at),
    ),
  );
}
