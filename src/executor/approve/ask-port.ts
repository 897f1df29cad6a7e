import { abortable } from '../../base/abortable.js';
import type { ApprovalRequest } from '../../contract/approval.js';
import { cleanReason } from '../answer/refuse-ready.js';
import { reasonOf } from '../answer/results.js';
import { announce } from './announce.js';
import type { LateQuestion } from './ask-after.js';
import { toRequest } from './ask-approval.js';
import { answerIn, type CallAnswer, readDecision } from './decision.js';

/**
 * Asks whether programs on this machine, such as the person's browser, may reach a loopback port of the
 * conversation.
 * @returns the reason for a refusal, in words; undefined: they may. If the person cannot be asked, the port
 * is refused.
 */
export async function askPort(
  question: Omit<LateQuestion, 'agreed'>,
  port: number,
): Promise<string | undefined> {
  const { ready, index, scope, recorder, signal } = question;
  const { settings, observer } = scope;
  const { lateApprover: approver } = settings;
  if (approver === null) return undefined;
  observer?.approvalRequested(ready);
  const summary = `Let programs of this machine, such as your browser, reach port ${port} of the commands of this conversation: http://127.0.0.1:${port}`;
  const request: ApprovalRequest = {
    ...toRequest({ ready, snapshot: { shown: [], places: [] } }, settings),
    summary,
    // Other programs on this machine can connect, but no file changes.
    risk: 'medium',
    containment: { transaction: false, network: true, undo: false },
    parts: [{ kind: 'arguments', json: { expose_port: port } }],
  };
  let refusal: string | undefined;
  let by: string | undefined;
  try {
    if (approver === undefined) throw new Error('there is no person to ask.');
    const given = await announce(
      { settings, conversation: scope.conversation, type: 'permission_prompt', message: summary },
      () => abortable(async () => approver([request], { signal }), signal),
    );
    const decision = readDecision(given);
    refusal = refusalOf(answerIn(decision, ready.call.id));
    by = decision.by;
  } catch (error) {
    refusal = `the person could not be asked: ${reasonOf(error)}`;
  }
  const reason = refusal === undefined ? undefined : cleanReason(refusal);
  observer?.approvalDecided(ready.call, reason === undefined, reason);
  recorder?.note(index, ready.call.id, 'approval', {
    approved: reason === undefined,
    port,
    ...(by === undefined ? {} : { by: cleanReason(by) }),
    ...(reason === undefined ? {} : { reason }),
  });
  return reason;
}

function refusalOf(answer: CallAnswer): string | undefined {
  // There are no arguments to edit in this question.
  if (answer.approved) return answer.args === undefined ? undefined : 'the person refused it';
  return `the person refused it${answer.reason === undefined ? '' : `: ${answer.reason}`}`;
}
