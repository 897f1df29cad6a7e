import { abortable } from '../../base/abortable.js';
import type { ApprovalDecision, ApprovalRequest, Approver } from '../../contract/approval.js';
import { hashArguments } from '../../schema/hash-arguments.js';
import { type JudgedCall, type ReadyCall, shownEffects } from '../plan/judged-call.js';
import { reasonOf } from '../record/reason-of.js';
import { cleanReason, refuseReady } from '../record/refuse-ready.js';
import { CANCELLED_MESSAGE } from '../record/results.js';

/** What became of one call that had to be asked for. */
export interface ApprovedCall {
  readonly judged: JudgedCall;
  readonly approved: boolean;
  readonly reason?: string;
  /** Who has said so, where the decision names somebody. */
  readonly by?: string;
  /** SHA-256 of exactly the arguments that were agreed to. */
  readonly argsHash?: string;
}

/** Judges a call again, with the arguments that the person put in its place. */
export type Replan = (ready: ReadyCall, args: ReadyCall['call']['args']) => Promise<JudgedCall>;

/**
 * Asks for all calls of a batch at once, before any of it runs (FR-APR-03, D127, D128). A decision that is no decision
 * and an approver that throws agree to nothing.
 */
export async function askApproval(
  waiting: readonly ReadyCall[],
  approver: Approver,
  replan: Replan,
  signal: AbortSignal,
): Promise<readonly ApprovedCall[]> {
  const requests = waiting.map(toRequest);
  let decision: ApprovalDecision;
  try {
    decision = await abortable(async () => approver(requests, { signal }), signal);
  } catch (error) {
    if (signal.aborted) return waiting.map((ready) => refused(ready, 'cancelled', CANCELLED_MESSAGE));
    return waiting.map((ready) => unavailable(ready, reasonOf(error)));
  }
  return Promise.all(
    waiting.map((ready) =>
      // A decision with getters can throw while it is read: then it is none.
      applyDecision(ready, decision, replan)
        .then((answer) => signed(answer, decision))
        .catch((error: unknown) => unavailable(ready, reasonOf(error))),
    ),
  );
}

function signed(answer: ApprovedCall, { by }: ApprovalDecision): ApprovedCall {
  return typeof by === 'string' && by !== '' ? { ...answer, by: cleanReason(by) } : answer;
}

export function toRequest(ready: ReadyCall): ApprovalRequest {
  return {
    callId: ready.call.id,
    toolName: ready.call.name,
    summary: ready.summary,
    risk: ready.risk,
    args: ready.call.args,
    effects: shownEffects(ready),
    reason: ready.reason,
  };
}

async function applyDecision(
  ready: ReadyCall,
  decision: ApprovalDecision,
  replan: Replan,
): Promise<ApprovedCall> {
  switch (decision?.kind) {
    case 'approve_all':
      return approved(ready);
    case 'approve_selected': {
      const { id } = ready.call;
      if (!Array.isArray(decision.ids) || !decision.ids.includes(id)) {
        return denied(ready, own(decision.reasons, id));
      }
      const args = own(decision.edits, id);
      return args === undefined ? approved(ready) : edited(await replan(ready, args));
    }
    case 'deny_all':
      return denied(ready, decision.reason);
    default:
      return unavailable(ready, 'the approver gave no decision.');
  }
}

function approved(ready: ReadyCall): ApprovedCall {
  return { judged: ready, approved: true, argsHash: hashArguments(ready.call.args) };
}

// The person has written these arguments, so they need not be asked about them once more.
function edited(judged: JudgedCall): ApprovedCall {
  if (judged.kind === 'resolved') return { judged, approved: false, reason: judged.reason };
  return approved(judged);
}

function denied(ready: ReadyCall, given: unknown): ApprovedCall {
  const reason = typeof given === 'string' && given !== '' ? given : undefined;
  const why = reason === undefined ? '' : `: ${reason}`;
  return refused(ready, 'user_denied', `User denied permission to run ${ready.call.name}${why}`, reason);
}

function unavailable(ready: ReadyCall, why: string): ApprovedCall {
  return refused(ready, 'approval_unavailable', `Approval could not be asked for: ${why}`);
}

function refused(
  ready: ReadyCall,
  code: 'user_denied' | 'approval_unavailable' | 'cancelled',
  message: string,
  reason?: string,
): ApprovedCall {
  const judged = refuseReady(ready, code, message);
  return { judged, approved: false, reason: reason === undefined ? judged.reason : cleanReason(reason) };
}

// Ids come from the model: a plain property access would find what every object inherits.
function own<T>(record: Readonly<Record<string, T>> | undefined, id: string): T | undefined {
  return record !== undefined && record !== null && Object.hasOwn(record, id) ? record[id] : undefined;
}
