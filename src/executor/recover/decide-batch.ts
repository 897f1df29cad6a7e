import type { DecisionKind, Journal } from '../../contract/journal.js';
import { ToolError } from '../../errors/tool-error.js';
import { failure } from '../answer/results.js';
import { alreadyDecided, findWaiting } from '../approve/find-deferred.js';
import type { EngineSettings } from '../call/settings.js';

/**
 * Ends the wait of a batch (D089): of one that was left half done either way; of one that was put off for approval only
 * by giving it up, because what is to run has to be agreed to.
 * @param given its id, or a unique beginning of it
 * @throws ToolError `unknown_batch`, `already_decided`, `bad_args` when it never waited, or for another decision.
 */
export async function decideBatch(
  given: string,
  kind: Exclude<DecisionKind, 'wait'>,
  { journal, clock }: Pick<EngineSettings, 'journal' | 'clock'>,
): Promise<void> {
  if (!['resume', 'discard'].includes(kind)) {
    const message = `Cannot decide about batch "${given}": ${JSON.stringify(kind)} is neither "resume" nor "discard".`;
    throw new ToolError('bad_args', message);
  }
  const found = await findWaiting(journal, given, kind);
  const { id: batchId, waitsFor } = found;
  if (waitsFor === 'approval' && kind === 'resume') {
    const remedy = 'It waits for approval: approve() it, with an approver that agrees or one that denies.';
    throw new ToolError('bad_args', `Cannot resume batch "${batchId}". ${remedy}`);
  }
  const at = clock.now();
  const data = { by: 'person', ...(waitsFor === 'approval' ? { why: waitsFor } : {}) };
  if (!(await found.journal.decide(batchId, { kind, at, data }))) throw alreadyDecided(batchId, kind);
  // Who dies before this has left calls that were never started: recovery says the same of them.
  if (waitsFor === 'approval') await endCalls(found.journal, batchId, at);
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
