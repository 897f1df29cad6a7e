import type { Acceptance } from '../../contract/journal.js';
import type { ToolResult } from '../../contract/result.js';
import { pending } from '../approve/pending-call.js';
import type { JudgedCall, ResolvedCall } from '../plan/judged-call.js';
import { refuseReady } from './refuse-ready.js';
import { failure } from './results.js';

/**
 * What becomes of a call that this conversation may have seen before: the same call is answered from the journal, the
 * same id with other arguments is refused.
 */
export function attachToRecord(call: JudgedCall, acceptance: Acceptance | undefined): JudgedCall {
  if (acceptance === undefined || acceptance.kind === 'fresh') return call;
  if (acceptance.kind === 'waits') return refuseWaiting(call, acceptance);
  if (acceptance.kind === 'conflict') {
    if (call.kind === 'resolved') return call;
    const message = `The call id "${call.call.id}" was used before in this conversation, with other arguments. Give the call an id of its own.`;
    return refuseReady(call, 'duplicate_tool_call_id', message);
  }
  // Also for a call that would be refused today: what its first delivery did stays true.
  const { result, decision, state, batchId } = acceptance.record;
  if (result === undefined && state === 'queued' && decision === 'wait') return pending(call, batchId);
  if (result === undefined) {
    const message =
      'This call was delivered before and has no answer yet: it is being run, or its process has died.';
    return recorded(call, failure(call.call, 'outcome_unknown', message, 'maybe'), message);
  }
  const told = decision === 'discard' ? discarded(result) : result;
  const replayed = { ...told, metadata: { ...told.metadata, replayed: true } };
  return recorded(call, replayed, 'answered from the journal: this call was delivered before');
}

/** How a result is delivered whose batch the person has discarded: what happened stays true, but counts for nothing. */
export function discarded(result: ToolResult): ToolResult {
  const executed = result.success ? 'yes' : (result.error.details?.executed ?? 'maybe');
  const message = `Discarded by the user. ${TOLD[String(executed)] ?? TOLD.maybe}`;
  const { output: _, structured: __, error: ___, outputRef: ____, ...rest } = result;
  return {
    ...rest,
    success: false,
    output: '',
    error: { code: 'cancelled', message, details: { executed } },
  };
}

const TOLD: Readonly<Record<string, string>> = {
  no: 'It was not run.',
  yes: 'It had been run.',
  maybe: 'It may have been run.',
};

type Blocked = Extract<Acceptance, { readonly kind: 'waits' }>;

/** Nothing new happens in a conversation before somebody has decided about what was left half done. */
function refuseWaiting(call: JudgedCall, { batchId, why }: Blocked): ResolvedCall {
  if (call.kind === 'resolved') return { ...call, recorded: true };
  const message =
    why === 'approval'
      ? `Nothing was run: batch "${batchId}" of this conversation waits for approval. Decide with "toolexec approve ` +
        `${batchId}", in a program with executor.approve().`
      : `Nothing was run: batch "${batchId}" of this conversation was left half done, and waits for the person. Decide ` +
        `with "toolexec journal recover --resume ${batchId}" or "--discard ${batchId}", in a program with ` +
        'executor.decide().';
  const refused = refuseReady(call, 'cancelled', message);
  const result = { ...refused.result, metadata: { waits_for: batchId } };
  return { ...refused, result, recorded: true };
}

function recorded({ call, effects }: JudgedCall, result: ToolResult, reason: string): ResolvedCall {
  return { kind: 'resolved', call, result, reason, effects, recorded: true };
}
