import { WAITING_ANSWER, waitingHint } from '../../contract/approval.js';
import type { ReadyCall, ResolvedCall } from '../plan/evaluated-call.js';
import { notRun } from '../record/results.js';

/**
 * How a call is answered that waits for approval: not run yet, and that is not its last word.
 * @param changed files that are not any more what the request was shown with.
 */
export function pending(
  { call, effects }: ReadyCall | ResolvedCall,
  batchId: string,
  changed: readonly string[] = [],
): ResolvedCall {
  const details = changed.length === 0 ? undefined : { changed: [...changed] };
  const result = {
    ...notRun(call, 'approval_unavailable', WAITING_ANSWER, details, undefined, waitingHint(batchId)),
    metadata: { pending: true, waits_for: batchId },
  };
  return { kind: 'resolved', call, result, reason: WAITING_ANSWER, effects, recorded: true };
}
