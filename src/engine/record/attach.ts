import type { Acceptance } from '../../contract/journal.js';
import type { ToolResult } from '../../contract/result.js';
import type { JudgedCall, ResolvedCall } from '../plan/judged-call.js';
import { refuseReady } from './refuse-ready.js';
import { failure } from './results.js';

/**
 * What becomes of a call that this conversation may have seen before: the same call is answered from the journal, the
 * same id with other arguments is refused.
 */
export function attachToRecord(call: JudgedCall, acceptance: Acceptance | undefined): JudgedCall {
  if (acceptance === undefined || acceptance.kind === 'fresh') return call;
  if (acceptance.kind === 'conflict') {
    if (call.kind === 'resolved') return call;
    const message = `The call id "${call.call.id}" was used before in this conversation, with other arguments. Give the call an id of its own.`;
    return refuseReady(call, 'duplicate_tool_call_id', message);
  }
  // Also for a call that would be refused today: what its first delivery did stays true.
  const { result } = acceptance.record;
  if (result === undefined) {
    const message =
      'This call was delivered before and has no answer yet: it is being run, or its process has died.';
    return recorded(call, failure(call.call, 'outcome_unknown', message, 'maybe'), message);
  }
  const replayed = { ...result, metadata: { ...result.metadata, replayed: true } };
  return recorded(call, replayed, 'answered from the journal: this call was delivered before');
}

function recorded({ call, effects }: JudgedCall, result: ToolResult, reason: string): ResolvedCall {
  return { kind: 'resolved', call, result, reason, effects, recorded: true };
}
