import type { CallRecord } from '../../contract/journal.js';
import type { JudgedCall } from '../plan/judged-call.js';
import { attachToRecord } from '../record/attach.js';
import { failure } from '../record/results.js';
import { pending } from './pending-call.js';

/** How the calls of a batch are answered that waits for approval: not run yet, and that is not their last word. */
export function putOff(judged: readonly JudgedCall[], batchId: string): JudgedCall[] {
  return judged.map((call) => (call.kind === 'ready' ? pending(call, batchId) : call));
}

/** What has its answer keeps it; what was delivered before, and is another batch's, gets that one's. */
export function asRecorded(call: JudgedCall, record: CallRecord | undefined, batchId: string): JudgedCall {
  if (record === undefined) return call;
  if (record.batchId !== batchId) return attachToRecord(call, { kind: 'known', key: record.key, record });
  if (record.result === undefined) return call;
  const { result, reason } = record;
  return { kind: 'resolved', call: call.call, result, reason, effects: call.effects, recorded: true };
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
