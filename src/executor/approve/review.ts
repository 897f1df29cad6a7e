import { abortable } from '../../base/abortable.js';
import type { Reviewer, ReviewVerdict } from '../../contract/approval.js';
import type { Awaitable } from '../../contract/call.js';
import { argsOf, withLines } from '../../hooks/hook-runner.js';
import { refuseReady, refuseStopped } from '../answer/refuse-ready.js';
import { reasonOf } from '../answer/results.js';
import type { BatchScope } from '../call/batch-scope.js';
import type { EvaluatedCall, ReadyCall, ResolvedCall } from '../call/evaluated-call.js';
import type { ApprovalSettings } from '../call/settings.js';
import { type Replan, replanner } from '../plan/plan-batch.js';
import { toRequest } from './ask-approval.js';

/**
 * The review between plan and approval. Reviewers run in order, and each one gets the calls as the previous
 * one left them. Changed arguments are planned again from the start, so that no review can bypass validation,
 * sandbox or policy.
 */
export async function review(
  ready: ReadyCall,
  reviewers: readonly Reviewer[],
  replan: Replan,
  at: ReviewPlace,
): Promise<EvaluatedCall> {
  let current: Reviewed = { evaluated: ready };
  for (const reviewer of reviewers) {
    const { evaluated, asked } = current;
    if (evaluated.kind === 'resolved') break;
    current = await ask(reviewer, evaluated, asked, replan, at);
  }
  return current.evaluated;
}

interface ReviewPlace {
  readonly signal: AbortSignal;
  readonly conversation: string;
}

/** A review comes before the question, so no file has been shown yet. */
const NOT_SHOWN = { shown: [], places: [] };

interface Reviewed {
  readonly evaluated: EvaluatedCall;
  /** Why a reviewer wants the person to be asked. A later reviewer cannot take this back. */
  readonly asked?: string | undefined;
}

async function ask(
  reviewer: Reviewer,
  ready: ReadyCall,
  asked: string | undefined,
  replan: Replan,
  at: ReviewPlace,
): Promise<Reviewed> {
  const { signal } = at;
  const disposition = ready.needsApproval ? 'requires_confirmation' : 'execute_now';
  const request = { ...toRequest({ ready, snapshot: NOT_SHOWN }), disposition } as const;
  try {
    const verdict = await abortable(async () => reviewer(request, at), signal);
    if (verdict?.kind === 'ask') {
      const reason = reasonGiven(verdict.reason) ?? 'a review asks for approval';
      return { evaluated: ready.asking(true, reason), asked: reason };
    }
    const evaluated = await apply(verdict, ready, asked, replan);
    return { evaluated, asked };
  } catch (error) {
    if (signal.aborted) return { evaluated: refuseStopped(ready, signal) };
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
  readonly scope: Pick<BatchScope, 'conversation'>;
  /** Aborts when the batch is stopped. */
  readonly signal: AbortSignal;
}

/** Waits for asynchronous schemas, runs the reviewers, and returns the planned calls. */
export function reviewPlan(
  planning: Awaitable<readonly EvaluatedCall[]>,
  batch: Planning,
  settings: ApprovalSettings,
): Awaitable<readonly EvaluatedCall[]> {
  const planned = planning instanceof Promise ? inTime(planning, batch, settings) : planning;
  // The plans are final if there is no reviewer, and no hook that receives refusals.
  const isFinal = settings.reviewers.length === 0 && settings.hooks.denied === undefined;
  return isFinal ? planned : reviewAll(planned, batch, settings);
}

async function reviewAll(
  planned: Awaitable<readonly EvaluatedCall[]>,
  batch: Planning,
  settings: ApprovalSettings,
): Promise<readonly EvaluatedCall[]> {
  const evaluated = await planned;
  const replan = replanner(settings);
  const at = { signal: batch.signal, conversation: batch.scope.conversation };
  return Promise.all(
    evaluated.map(async (call) => {
      if (batch.signal.aborted) return call;
      const reviewed = call.kind === 'ready' ? await review(call, settings.reviewers, replan, at) : call;
      return reviewed.kind === 'ready' ? reviewed : afterRefusal(reviewed, at, settings);
    }),
  );
}

/** Codes of refusals that do not come from a person. */
const REFUSALS: ReadonlySet<string> = new Set([
  'denylisted',
  'policy_denied',
  'sandbox_violation',
  'security_violation',
]);

/** Reports a refusal to the hooks, which may add lines for the model. */
async function afterRefusal(
  refused: ResolvedCall,
  { signal, conversation }: ReviewPlace,
  { hooks, agent }: ApprovalSettings,
): Promise<ResolvedCall> {
  const { call, result } = refused;
  const { error } = result;
  if (hooks.denied === undefined || error === undefined || !REFUSALS.has(error.code)) return refused;
  const about = { toolName: call.name, callId: call.id, args: argsOf(call) };
  const lines = await hooks.denied(about, error.message, { conversation, agent, signal });
  return { ...refused, result: withLines(result, lines) };
}

// A tool's own schema may never answer. Neither the batch nor its cancellation may wait for it (D107).
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
