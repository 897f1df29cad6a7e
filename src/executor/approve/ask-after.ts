import { abortable } from '../../base/abortable.js';
import type { ApprovalRequest } from '../../contract/approval.js';
import type { ChosenPaths, DeedsRefusal, PreviewedChanges } from '../../contract/changes.js';
import { cleanReason } from '../answer/refuse-ready.js';
import { reasonOf } from '../answer/results.js';
import type { BatchScope } from '../call/batch-scope.js';
import type { ReadyCall } from '../call/evaluated-call.js';
import type { Recorder } from '../record/recorder.js';
import { announce } from './announce.js';
import { isPersons, toRequest } from './ask-approval.js';
import { changedParts } from './changed-parts.js';
import { answerIn, type CallAnswer, readDecision } from './decision.js';
import { describeUnexpected } from './describe-unexpected.js';
import { pictureParts } from './picture-parts.js';

export interface LateQuestion {
  readonly ready: ReadyCall;
  readonly index: number;
  readonly scope: BatchScope;
  readonly recorder: Recorder | undefined;
  readonly signal: AbortSignal;
  /**
   * Called with the decision: true if a person agreed to the changes. An option such as `--yes` does not count, because
   * it gives consent before there are any changes to see.
   */
  readonly agreed: (isPersons: boolean) => void;
}

/**
 * Asks whether the changes of a command may be committed. @returns the refusal, or the only paths that may be
 * committed; undefined: all changes may be committed. If the person cannot be asked, the changes are not
 * approved.
 */
export async function askAfter(
  question: LateQuestion,
  previewed: PreviewedChanges,
): Promise<DeedsRefusal | ChosenPaths | undefined> {
  const { ready, index, scope, recorder, signal } = question;
  const { settings, observer } = scope;
  const { lateApprover: approver } = settings;
  if (approver === null) return undefined;
  const { changes } = previewed;
  const { unexpected } = changes;
  const why = unexpected === undefined ? undefined : describeUnexpected(previewed.entries);
  if (approver === undefined) return unaskable(ready, why);
  observer?.approvalRequested(ready);
  const parts = [...(await pictureParts(ready, [], settings)), ...changedParts(previewed)];
  const snapshot = { shown: [], places: [] };
  const request: ApprovalRequest = {
    ...toRequest({ ready, snapshot }, settings),
    ...(unexpected === undefined ? {} : { reason: why ?? '', unexpected }),
    parts,
    changes,
  };
  let refusal: string | undefined;
  let isUnasked = false;
  let by: string | undefined;
  let only: readonly string[] | undefined;
  try {
    const message = `Permission needed for its changes: ${ready.summary}`;
    const given = await announce(
      { settings, conversation: scope.conversation, type: 'permission_prompt', message },
      () => abortable(async () => approver([request], { signal }), signal),
    );
    const decision = readDecision(given);
    const answer = answerIn(decision, ready.call.id);
    refusal = refusalOf(answer);
    if (answer.approved) only = answer.paths;
    by = decision.by;
  } catch (error) {
    isUnasked = true;
    refusal = `the person could not be asked about its changes: ${reasonOf(error)}`;
  }
  const reason = refusal === undefined ? undefined : cleanReason(refusal);
  const approved = reason === undefined;
  question.agreed(approved && isPersons(by));
  observer?.approvalDecided(ready.call, approved, reason);
  recorder?.note(index, ready.call.id, 'approval', {
    approved,
    after: true,
    ...(by === undefined ? {} : { by: cleanReason(by) }),
    ...(unexpected === undefined ? {} : { unexpected: [...unexpected] }),
    ...(reason === undefined ? {} : { reason }),
    ...(only === undefined ? {} : { paths: [...only] }),
  });
  if (reason !== undefined) return { why: reason, by: isUnasked ? 'unasked' : 'person' };
  return only === undefined ? undefined : { only };
}

/**
 * The refusal when there is no approver. If the tool normally asks after its commands, the question stays
 * open. If the command changed more than it was allowed to, the policy refuses the changes.
 */
function unaskable({ asksAfter }: ReadyCall, beyond: string | undefined): DeedsRefusal {
  if (!asksAfter && beyond !== undefined) return { why: beyond, by: 'policy' };
  return { why: 'there is no person to ask about its changes', by: 'unasked' };
}

function refusalOf(answer: CallAnswer): string | undefined {
  if (!answer.approved)
    return `its changes were refused${answer.reason === undefined ? '' : `: ${answer.reason}`}`;
  return answer.args === undefined
    ? undefined
    : 'the person wants it with other arguments, and it has run already';
}
