import { abortable } from '../../base/abortable.js';
import type { ApprovalDecision, ApprovalRequest, Approver } from '../../contract/approval.js';
import { keepLanguage } from '../../platform/runtime/intrinsics.js';
import { lightsOf } from '../../provenance/lights.js';
import { hashArguments } from '../../schema/freeze-arguments.js';
import { cleanReason, refuseReady, refuseStopped } from '../answer/refuse-ready.js';
import { reasonOf } from '../answer/results.js';
import { type EvaluatedCall, type ReadyCall, shownEffects } from '../call/evaluated-call.js';
import type { ApprovalSettings } from '../call/settings.js';
import { type CallScope, runInScope } from '../call/unhandled-errors.js';
import type { Replan } from '../plan/plan-batch.js';
import { answerIn, readDecision, whyUndecided } from './decision.js';
import { pictureParts } from './picture-parts.js';
import { changedPaths, type Snapshot, takeSnapshot } from './shown-files.js';

/** The decision about one call that needed a question. */
export interface ApprovedCall {
  readonly evaluated: EvaluatedCall;
  readonly approved: boolean;
  readonly reason?: string;
  /** The decider, if the decision names one. */
  readonly by?: string;
  /** SHA-256 of exactly the approved arguments. */
  readonly argsHash?: string;
  /** The files as they were when the question was asked. */
  readonly snapshot?: Snapshot;
  /** For a call that was asked about again: the files that changed since it was first shown. */
  readonly changed?: readonly string[] | undefined;
}

/** A call that needs a question, with the snapshot that the question shows. */
export interface AskedCall {
  readonly ready: ReadyCall;
  readonly snapshot: Snapshot;
  /** Files that have changed since an earlier request for the call was shown. */
  readonly changed?: readonly string[];
}

export interface Question {
  readonly approver: Approver;
  readonly replan: Replan;
  readonly signal: AbortSignal;
  readonly settings: ApprovalSettings;
  /** The scope of the batch. Calls that the approver itself makes do not wait behind the batch that asks. */
  readonly scope: CallScope;
}

/** How often one call may be asked about again because its files change while the person decides. */
const MOST_ROUNDS = 10;

/**
 * Asks about all calls of a batch at once, before any of them runs (D034, D127, D128). An invalid decision,
 * or an approver that throws, approves nothing. Consent is bound to the shown arguments, resolved paths and
 * contents: if a call's files change in the meantime, the call is planned and asked about again.
 */
export async function askApproval(
  asked: readonly AskedCall[],
  question: Question,
): Promise<readonly ApprovedCall[]> {
  const answers = new Map<AskedCall, ApprovedCall>();
  // An answer from a later round belongs to the call of the first round.
  let open = asked.map((call) => ({ first: call, now: call }));
  for (let round = 1; open.length > 0; round++) {
    const given = await askOnce(
      open.map(({ now }) => now),
      question,
    );
    const again: typeof open = [];
    for (const [index, answer] of given.entries()) {
      const { first } = open[index] as (typeof open)[number];
      const checked = await checkSnapshot(answer, question);
      if (!('ready' in checked)) answers.set(first, checked);
      else if (round < MOST_ROUNDS) again.push({ first, now: checked });
      else
        answers.set(first, unavailable(checked.ready, 'Its files keep changing while the person decides.'));
    }
    open = again;
  }
  return asked.map((call) => answers.get(call) as ApprovedCall);
}

/** Returns the answer if the files are unchanged; otherwise the call with a new question. */
async function checkSnapshot(answer: ApprovedCall, question: Question): Promise<ApprovedCall | AskedCall> {
  const { evaluated, approved, snapshot } = answer;
  const { settings, replan, signal } = question;
  if (!approved || evaluated.kind === 'resolved' || snapshot === undefined || signal.aborted) return answer;
  const changed = changedPaths(snapshot, await takeSnapshot(evaluated, settings));
  if (changed.length === 0) return answer;
  const planned = await replan(evaluated, evaluated.call.args);
  if (planned.kind === 'resolved') return { evaluated: planned, approved: false, reason: planned.reason };
  return askedAgain(planned, await takeSnapshot(planned, settings), changed);
}

/**
 * A new question for a call whose files have changed since it was shown. The call now needs approval even if
 * the policy would not ask.
 */
export function askedAgain(ready: ReadyCall, snapshot: Snapshot, changed: readonly string[]): AskedCall {
  const reason = `${ready.reason.replace(/\.$/, '')}; changed since it was shown: ${changed.join(', ')}`;
  return { ready: ready.asking(true, reason), snapshot, changed };
}

async function askOnce(asked: readonly AskedCall[], question: Question): Promise<readonly ApprovedCall[]> {
  const { signal, replan, settings } = question;
  const requests = await Promise.all(asked.map((call) => toQuestion(call, settings)));
  let decision: ApprovalDecision;
  try {
    decision = readDecision(await putQuestion(requests, question));
  } catch (error) {
    if (signal.aborted)
      return asked.map(({ ready }) => {
        const evaluated = refuseStopped(ready, signal);
        return { evaluated, approved: false, reason: evaluated.reason };
      });
    return asked.map(({ ready }) => unavailable(ready, whyUndecided(error)));
  }
  return Promise.all(
    asked.map((call) =>
      applyDecision(call, decision, replan, settings)
        .then((answer) => signed(answer, decision))
        .catch((error: unknown) =>
          unavailable(call.ready, `The approver's decision cannot be applied: ${reasonOf(error)}`),
        ),
    ),
  );
}

/** @throws the approver's error, and the signal's reason if it is aborted first */
export async function putQuestion(
  requests: readonly ApprovalRequest[],
  { approver, signal, scope }: Pick<Question, 'approver' | 'signal' | 'scope'>,
): Promise<ApprovalDecision> {
  try {
    return await abortable(
      async () => runInScope({ queue: scope.queue }, approver, requests, { signal }),
      signal,
    );
  } finally {
    // The wait may have taken minutes; a tool may have replaced built-ins meanwhile, so restore them.
    keepLanguage();
  }
}

function signed(answer: ApprovedCall, { by }: ApprovalDecision): ApprovedCall {
  const { approved, evaluated } = answer;
  const isAgreed = approved && evaluated.kind === 'ready' && isPersons(by);
  const said = isAgreed ? { ...answer, evaluated: evaluated.agreed() } : answer;
  return by === undefined || by === '' ? said : { ...said, by: cleanReason(by) };
}

/**
 * Whether a person made the decision after seeing the question. Options such as `--yes` and hooks do not
 * count.
 */
export function isPersons(by: string | undefined): boolean {
  return by?.startsWith('--') !== true && by !== BY_HOOK && by !== BY_HOST;
}

/** The decider's name where a host asks no question (`approver: null`). */
export const BY_HOST = 'host';

/** The decider's name when a PermissionRequest hook answered. */
export const BY_HOOK = 'a PermissionRequest hook';

/** The request for the person, with the parts of its picture. */
export async function toQuestion(asked: AskedCall, settings: ApprovalSettings): Promise<ApprovalRequest> {
  const parts = await pictureParts(asked.ready, asked.snapshot.shown, settings);
  return { ...toRequest(asked, settings), parts };
}

export function toRequest(
  { ready, snapshot, changed }: AskedCall,
  { agent }: Pick<ApprovalSettings, 'agent'> = {},
): ApprovalRequest {
  const { origins, containment } = ready;
  const effects = shownEffects(ready);
  return {
    callId: ready.call.id,
    toolName: ready.call.name,
    summary: ready.summary,
    risk: ready.risk,
    containment,
    args: ready.call.args,
    effects,
    reason: ready.reason,
    shown: snapshot.shown,
    ...(agent === undefined ? {} : { agent }),
    ...(origins === undefined ? {} : { lights: lightsOf(origins.seen, effects, containment.network) }),
    ...(changed === undefined ? {} : { changed }),
  };
}

async function applyDecision(
  call: AskedCall,
  decision: ApprovalDecision,
  replan: Replan,
  settings: ApprovalSettings,
): Promise<ApprovedCall> {
  const { ready } = call;
  const answer = answerIn(decision, ready.call.id);
  if (!answer.approved) return denied(ready, answer.reason);
  return answer.args === undefined ? approved(call) : edited(await replan(ready, answer.args), settings);
}

function approved({ ready, snapshot, changed }: AskedCall): ApprovedCall {
  return { evaluated: ready, approved: true, argsHash: hashArguments(ready.call.args), snapshot, changed };
}

// The person wrote these arguments, so the person is not asked about them a second time.
async function edited(evaluated: EvaluatedCall, settings: ApprovalSettings): Promise<ApprovedCall> {
  if (evaluated.kind === 'resolved') return { evaluated, approved: false, reason: evaluated.reason };
  return approved({ ready: evaluated, snapshot: await takeSnapshot(evaluated, settings) });
}

function denied(ready: ReadyCall, reason: string | undefined): ApprovedCall {
  const evaluated = refuseReady(ready, 'user_denied', deniedMessage(ready.call.name, reason));
  return {
    evaluated,
    approved: false,
    reason: reason === undefined ? evaluated.reason : cleanReason(reason),
  };
}

export function deniedMessage(name: string, reason: string | undefined): string {
  return `User denied permission to run ${name}${reason === undefined ? '' : `: ${reason}`}`;
}

function unavailable(ready: ReadyCall, hint: string): ApprovedCall {
  const message = `The person could not be asked about ${ready.call.name}. Nothing was run.`;
  const evaluated = refuseReady(ready, 'approval_unavailable', message, hint);
  return { evaluated, approved: false, reason: cleanReason(hint) };
}
