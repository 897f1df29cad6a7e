import { abortable } from '../../base/abortable.js';
import type { Reviewer, ReviewVerdict } from '../../contract/approval.js';
import type { EvaluatedCall, ReadyCall } from '../plan/evaluated-call.js';
import { refuseReady } from '../record/refuse-ready.js';
import { CANCELLED_MESSAGE, reasonOf } from '../record/results.js';
import { type Replan, toRequest } from './ask-approval.js';

/**
 * The stage between plan and approval: reviewers in order, each sees what the one before it left. Changed arguments
 * are planned again from the start, so that no review can lead past validation, sandbox or policy.
 */
export async function review(
  ready: ReadyCall,
  reviewers: readonly Reviewer[],
  replan: Replan,
  signal: AbortSignal,
): Promise<EvaluatedCall> {
  let current: Reviewed = { judged: ready };
  for (const reviewer of reviewers) {
    const { judged, asked } = current;
    if (judged.kind === 'resolved') break;
    current = await ask(reviewer, judged, asked, replan, signal);
  }
  return current.judged;
}

/** A review comes before the question: no file is looked at for it. */
const NOT_SHOWN = { shown: [], places: [] };

interface Reviewed {
  readonly judged: EvaluatedCall;
  /** Why a reviewer wants the person to be asked: no later one takes that back. */
  readonly asked?: string | undefined;
}

async function ask(
  reviewer: Reviewer,
  ready: ReadyCall,
  asked: string | undefined,
  replan: Replan,
  signal: AbortSignal,
): Promise<Reviewed> {
  const disposition = ready.needsApproval ? 'requires_confirmation' : 'execute_now';
  const request = { ...toRequest({ ready, picture: NOT_SHOWN }), disposition } as const;
  try {
    const verdict = await abortable(async () => reviewer(request, { signal }), signal);
    if (verdict?.kind === 'ask') {
      const reason = reasonGiven(verdict.reason) ?? 'a review asks for approval';
      return { judged: ready.asking(true, reason), asked: reason };
    }
    const judged = await apply(verdict, ready, asked, replan);
    return { judged, asked };
  } catch (error) {
    if (signal.aborted) return { judged: refuseReady(ready, 'cancelled', CANCELLED_MESSAGE) };
    return { judged: refuseReady(ready, 'policy_denied', `Denied by review: it failed: ${reasonOf(error)}`) };
  }
}

async function apply(
  verdict: Exclude<ReviewVerdict, { kind: 'ask' }>,
  ready: ReadyCall,
  asked: string | undefined,
  replan: Replan,
): Promise<EvaluatedCall> {
  switch (verdict?.kind) {
    case 'pass':
      return ready;
    case 'allow':
      return ready.toolRequiresApproval || asked !== undefined
        ? ready
        : ready.asking(false, reasonGiven(verdict.reason) ?? 'a review allowed it');
    case 'deny':
      return refuseReady(
        ready,
        'policy_denied',
        `Denied by review: ${reasonGiven(verdict.reason) ?? 'no reason was given'}`,
      );
    case 'change': {
      const changed = await replan(ready, verdict.args);
      return changed.kind === 'ready' && asked !== undefined ? changed.asking(true, asked) : changed;
    }
    default:
      return refuseReady(ready, 'policy_denied', 'Denied by review: it gave no verdict.');
  }
}

function reasonGiven(reason: unknown): string | undefined {
  return typeof reason === 'string' && reason !== '' ? reason : undefined;
}
