import type { ApprovalDecision, ApprovalRequest } from '../../contract/approval.js';
import type { PermissionAnswer } from '../../hooks/event-hooks.js';
import { cleanReason, refuseReady } from '../answer/refuse-ready.js';
import type { BatchScope } from '../call/batch-scope.js';
import { type ApprovedCall, type AskedCall, BY_HOOK, toRequest } from './ask-approval.js';

export interface HookQuestion {
  readonly scope: BatchScope;
  readonly signal: AbortSignal;
  /** Asks a question through an approver, in the same way as a person is asked. */
  readonly ask: (
    asked: AskedCall,
    approver: (requests: readonly ApprovalRequest[]) => Promise<ApprovalDecision>,
  ) => Promise<ApprovedCall>;
}

/**
 * Lets the PermissionRequest hooks answer for a call before the person is asked. Returns undefined if no hook
 * answers; then the person is asked. A hook's consent is bound to the shown content, like a person's.
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
    // On a second request a file has changed since the hook answered, so the hook is asked again.
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
