import { waitingAnswer } from '../../contract/waiting-answer.js';
import type { ReadyCall, ResolvedCall } from '../plan/judged-call.js';
import { notRun } from '../record/results.js';

/** How a call is answered that waits for approval: not run yet, and that is not its last word. */
export function pending({ call, effects }: ReadyCall | ResolvedCall, batchId: string): ResolvedCall {
  const message = waitingAnswer(batchId);
  const result = {
    ...notRun(call, 'approval_unavailable', message),
    metadata: { pending: true, waits_for: batchId },
  };
  return { kind: 'resolved', call, result, reason: message, effects, recorded: true };
}
