import { abortable } from '../../base/abortable.js';
import type { Reviewer, ReviewVerdict } from '../../contract/approval.js';
import { refuseReady } from '../answer/refuse-ready.js';
import { cancelledMessage, reasonOf } from '../answer/results.js';
import type { EvaluatedCall, ReadyCall } from '../call/evaluated-call.js';
import type { ApprovalSettings } from '../call/settings.js';
import { type Replan, replanner } from '../plan/plan-batch.js';
import { toRequest } from './ask-approval.js';

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
  let current: Reviewed = { evaluated: ready };
  for (const reviewer of reviewers) {
    const { evaluated, asked } = current;
    if (evaluated.kind === 'resolved') break;
    current = await ask(reviewer, evaluated, asked, replan, signal);
  }
  return current.evaluated;
}

/** A review comes before the question: no file is looked at for it. */
const NOT_SHOWN = { shown: [], places: [] };

interface Reviewed {
  readonly evaluated: EvaluatedCall;
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
  const request = { ...toRequest({ ready, snapshot: NOT_SHOWN }), disposition } as const;
  try {
    const verdict = await abortable(async () => reviewer(request, { signal }), signal);
    if (verdict?.kind === 'ask') {
      const reason = reasonGiven(verdict.reason) ?? 'a review asks for approval';
      return { evaluated: ready.asking(true, reason), asked: reason };
    }
    const evaluated = await apply(verdict, ready, asked, replan);
    return { evaluated, asked };
  } catch (error) {
    if (signal.aborted) return { evaluated: refuseReady(ready, 'cancelled', cancelledMessage(signal)) };
    return {
      evaluated: refuseReady(ready, 'policy_denied', `Denied by review: it failed: ${reasonOf(error)}`),
    };
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

interface Planning {
  /** Aborts when the batch is stopped. */
  readonly signal: AbortSignal;
  readonly isStopped: boolean;
}

/** The calls as planned, once their schemas have answered and their reviewers have spoken. */
export async function reviewPlan(
  planning: readonly EvaluatedCall[] | Promise<readonly EvaluatedCall[]>,
  batch: Planning,
  settings: ApprovalSettings,
): Promise<readonly EvaluatedCall[]> {
  const evaluated = planning instanceof Promise ? await inTime(planning, batch, settings) : planning;
  const { reviewers } = settings;
  if (reviewers.length === 0) return evaluated;
  const replan = replanner(settings);
  const { signal } = batch;
  return Promise.all(
    evaluated.map((call) =>
      call.kind === 'ready' && !batch.isStopped ? review(call, reviewers, replan, signal) : call,
    ),
  );
}

// A schema of the tool's own may never answer; neither the batch nor its cancellation may wait for that (D107).
async function inTime<T>(
  evaluating: Promise<T>,
  { signal }: Planning,
  { clock, timeouts }: ApprovalSettings,
): Promise<T> {
  const { ms } = timeouts.default;
  const late = new AbortController();
  const forget = clock.after(ms, () =>
    late.abort(new Error(`the arguments could not be checked within ${ms}ms`)),
  );
  try {
    return await abortable(() => abortable(() => evaluating, signal), late.signal);
  } finally {
    forget();
  }
}
