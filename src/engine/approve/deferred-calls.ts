import type { CallRecord } from '../../contract/journal.js';
import type { JudgedCall, ReadyCall, ResolvedCall } from '../plan/judged-call.js';
import { failure, notRun } from '../record/results.js';

/** How the calls of a batch are answered that waits for approval: not run yet, and that is not their last word. */
export function putOff(judged: readonly JudgedCall[], batchId: string): JudgedCall[] {
  return judged.map((call) => (call.kind === 'ready' ? pending(call, batchId) : call));
}

export function pending({ call, effects }: ReadyCall | ResolvedCall, batchId: string): ResolvedCall {
  const message = `Not run yet: its batch waits for approval. Decide with "toolexec approve ${batchId}", in a program with executor.approve().`;
  const result = {
    ...notRun(call, 'approval_unavailable', message),
    metadata: { pending: true, waits_for: batchId },
  };
  return { kind: 'resolved', call, result, reason: message, effects, recorded: true };
}

/** What has its answer keeps it. */
export function answeredEarlier(call: JudgedCall, record: CallRecord | undefined): JudgedCall {
  if (record?.result === undefined) return call;
  const { effects } = call;
  return {
    kind: 'resolved',
    call: call.call,
    result: record.result,
    reason: record.reason,
    effects,
    recorded: true,
  };
}

/** Of several that approve at once, one does. */
export function takenByAnother(call: JudgedCall): JudgedCall {
  if (call.kind === 'resolved') return { ...call, recorded: true };
  const message =
    'Somebody else has decided about this batch. What came of it is in the journal, or not known yet.';
  const result = failure(call.call, 'outcome_unknown', message, 'maybe');
  return {
    kind: 'resolved',
    call: call.call,
    result,
    reason: message,
    effects: call.effects,
    recorded: true,
  };
}

/** Nobody could be asked about it; that is no decision. */
export function isUnanswered(call: JudgedCall): boolean {
  return (
    call.kind === 'resolved' && call.recorded !== true && call.result.error?.code === 'approval_unavailable'
  );
}
