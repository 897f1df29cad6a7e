import { showGiven } from '../../base/normalize-options.js';
import type { ApprovalDecision } from '../../contract/approval.js';
import type { DecideOptions } from '../../contract/executor.js';
import type { DecisionKind, Journal, Settlement } from '../../contract/journal.js';
import { ToolError } from '../../errors/tool-error.js';
import { failure } from '../answer/results.js';
import { decideTicket } from '../approve/decide-ticket.js';
import { alreadyDecided, type FoundBatch, findWaiting } from '../approve/find-deferred.js';
import { parseTicket } from '../approve/ticket.js';
import type { RecoverySettings } from '../call/settings.js';

/** A decision about a batch, or the answer to a ticket's question. */
export type WaitingDecision = Exclude<DecisionKind, 'wait'> | ApprovalDecision;

/** @throws ToolError as `decideBatch` and `decideTicket` */
export async function decideWaiting(
  given: string,
  decision: WaitingDecision,
  options: DecideOptions,
  settings: RecoverySettings,
): Promise<void> {
  const isAnswer = typeof decision === 'object' && decision !== null;
  if (isAnswer || parseTicket(given) !== undefined) {
    await decideTicket(given, decision as ApprovalDecision, settings);
  } else await decideBatch(given, decision, options, settings);
}

/**
 * Ends the wait of a batch (D089). A half-done batch can be resumed or discarded. A batch that waits for
 * approval can only be discarded, because its calls need a person's consent to run.
 * @param given its id, or a unique beginning of it
 * @throws ToolError `unknown_batch`, `already_decided`, `bad_args` when it never waited, or for another
 * decision.
 */
async function decideBatch(
  given: string,
  kind: Exclude<DecisionKind, 'wait'>,
  options: DecideOptions,
  { journal, clock }: Pick<RecoverySettings, 'journal' | 'clock'>,
): Promise<void> {
  if (!['resume', 'discard'].includes(kind)) {
    const message = `Cannot decide about batch ${showGiven(given)}: ${showGiven(kind)} is neither "resume" nor "discard".`;
    throw new ToolError('bad_args', message);
  }
  const found = await findWaiting(journal, given, kind);
  const { id: batchId, waitsFor } = found;
  if (waitsFor === 'approval' && kind === 'resume') {
    const remedy = 'It waits for approval: approve() it, with an approver that agrees or one that denies.';
    throw new ToolError('bad_args', `Cannot resume batch "${batchId}". ${remedy}`);
  }
  const settled = readSettled(options, found, kind);
  const at = clock.now();
  const data = { by: 'person', ...(waitsFor === 'approval' ? { why: waitsFor } : {}), ...settled };
  if (!(await found.journal.decide(batchId, { kind, at, data }))) throw alreadyDecided(batchId, kind);
  // If this process dies before this line, the calls remain as never started, and recovery gives the same
  // answers.
  if (waitsFor === 'approval') await endCalls(found.journal, batchId, at);
}

/** @throws ToolError `bad_args` for a call that does not belong to this batch, or whose outcome is known. */
function readSettled(
  { settled = {} }: DecideOptions,
  { id, calls }: FoundBatch,
  kind: DecisionKind,
): { readonly settled?: Record<string, Settlement> } {
  const given = Object.entries(settled);
  if (given.length === 0) return {};
  const refuse = (why: string): never => {
    throw new ToolError('bad_args', `Cannot ${kind} batch "${id}": ${why}`);
  };
  if (kind !== 'resume') refuse('all of it counts as failed, so nothing can be settled.');
  for (const [callId, verdict] of given) {
    if (verdict !== 'applied' && verdict !== 'not_applied') {
      refuse(`${JSON.stringify(verdict)} is neither "applied" nor "not_applied".`);
    }
    const call = calls.find((each) => each.callId === callId && each.batchId === id);
    if (call === undefined) refuse(`it has no call ${JSON.stringify(callId)}.`);
    if (call?.result?.error?.code !== 'outcome_unknown') {
      refuse(`the outcome of the call ${JSON.stringify(callId)} is known.`);
    }
  }
  return { settled: Object.fromEntries(given) };
}

async function endCalls(journal: Journal, batchId: string, at: number): Promise<void> {
  const calls = await journal.batch(batchId);
  const open = calls.filter((call) => call.batchId === batchId && call.result === undefined);
  const message = 'Discarded by the user, who was to approve it. It was not run.';
  await Promise.all(
    open.map(({ key, callId, toolName }) =>
      journal.finish(key, failure({ id: callId, name: toolName }, 'cancelled', message, 'no'), at, 'queued'),
    ),
  );
}
