import type { ApprovalDecision, ApprovalRequest } from '../../contract/approval.js';
import type { PermissionAnswer } from '../../hooks/event-hooks.js';
import { cleanReason, refuseReady } from '../answer/refuse-ready.js';
import type { BatchScope } from '../call/batch-scope.js';
import { type ApprovedCall, type AskedCall, BY_HOOK, toRequest } from './ask-approval.js';

export interface HookQuestion {
  readonly scope: BatchScope;
  readonly signal: AbortSignal;
  /** Puts the question with an approver, as a person's. */
  readonly ask: (
    asked: AskedCall,
    approver: (requests: readonly ApprovalRequest[]) => Promise<ApprovalDecision>,
  ) => Promise<ApprovedCall>;
}

/**
 * What the PermissionRequest hooks say of a call that a person is about to be asked for; undefined: the person is asked.
 * Their consent is bound to what they were shown, like a person's.
 */
export async function answerByHook(
  asked: AskedCall,
  question: HookQuestion,
): Promise<ApprovedCall | undefined> {
  const { scope, signal, ask } = question;
  const { settings, observer, conversation } = scope;
  const { permission } = settings.hooks;
  const place = { conversation, agent: settings.agent, signal };
  let answer = await permission?.(toRequest(asked, settings), place);
  if (answer === undefined || signal.aborted) return undefined;
  if (answer.kind === 'deny') {
    observer?.approvalRequested(asked.ready);
    const denied = deniedBy(asked, answer.reason);
    observer?.approvalDecided(asked.ready.call, false, denied.reason);
    return denied;
  }
  return ask(asked, async ([request]) => {
    // Asked again: a file has changed since the hook was asked.
    const now = answer ?? (request && (await permission?.(request, place)));
    answer = undefined;
    if (request === undefined || now === undefined)
      throw new Error('a file changed while its hook was asked, and the hook did not answer again');
    return toDecision(request.callId, now);
  });
}

function deniedBy({ ready }: AskedCall, given: string): ApprovedCall {
  const evaluated = refuseReady(ready, 'policy_denied', `Denied by a hook: ${given}`);
  return { evaluated, approved: false, reason: cleanReason(given), by: BY_HOOK };
}

function toDecision(id: string, answer: PermissionAnswer): ApprovalDecision {
  if (answer.kind === 'deny') return { kind: 'deny_all', reason: answer.reason, by: BY_HOOK };
  const edits = answer.args === undefined ? {} : { edits: { [id]: answer.args } };
  return { kind: 'approve_selected', ids: [id], ...edits, by: BY_HOOK };
}
