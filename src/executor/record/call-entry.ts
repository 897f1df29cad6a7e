import type { Disposition } from '../../contract/approval.js';
import type { CallEntry } from '../../contract/journal.js';
import { madeUpIn } from '../calls.js';
import { type EvaluatedCall, shownEffects } from '../plan/evaluated-call.js';

/** A planned call as it is recorded. */
export function toCallEntry(judged: EvaluatedCall): CallEntry {
  const { call, reason } = judged;
  const entry: CallEntry = {
    callId: call.id,
    toolName: call.name,
    args: call.args,
    // What the policy has seen a command touch is a part of what was judged, and agreed to.
    effects: shownEffects(judged),
    disposition: dispositionOf(judged),
    reason,
  };
  return call.madeUp === true ? { ...entry, ...madeUpIn(call) } : entry;
}

function dispositionOf(judged: EvaluatedCall): Disposition {
  if (judged.kind === 'resolved') return 'pre_resolved';
  return judged.needsApproval ? 'requires_confirmation' : 'execute_now';
}
