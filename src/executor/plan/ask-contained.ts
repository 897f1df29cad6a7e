import type { PolicyAnswer, PolicyQuestion } from '../../contract/policy.js';
import type { PlanSettings, StandingSandbox } from '../call/settings.js';
import { askPolicy } from './ask-policy.js';

/** The policy's answer for a call, given where its commands run. */
export interface Contained {
  readonly answer: PolicyAnswer;
  /** A rule allows the call because its commands run in a transaction. */
  readonly needsTransaction: boolean;
}

/** A question that its caller hands over: a copy takes as long as the rest of the plan. */
export type OwnQuestion = { -readonly [Field in keyof PolicyQuestion]: PolicyQuestion[Field] };

/**
 * Asks the policy about a call that runs commands.
 * @param question completed here
 * @param startsShell whether the call may start a background shell, which writes through
 */
export function askContained(
  settings: Pick<PlanSettings, 'policy' | 'onDecision' | 'logger' | 'locator'>,
  question: OwnQuestion,
  standing: StandingSandbox,
  startsShell: boolean,
): Contained {
  const isApart = standing.transaction && !startsShell;
  const isHidden = isApart || (standing.stands && standing.hidesAll);
  if (isApart) question.transaction = true;
  if (standing.network) question.network = true;
  if (!isHidden) question.hiddenBelow = settings.locator.hiddenBelow;
  const answer = askPolicy(settings, question);
  const isByRule = answer.disposition === 'execute_now' && answer.rule !== undefined;
  return { answer, needsTransaction: isApart && isByRule && answer.writesThrough !== true };
}
