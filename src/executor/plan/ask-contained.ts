import type { PolicyAnswer, PolicyQuestion } from '../../contract/policy.js';
import type { Containment, EngineSettings } from '../call/settings.js';
import { askPolicy, decide, observed } from './ask-policy.js';

/** What the policy answers, told where the call's commands run. */
export interface Contained {
  readonly answer: PolicyAnswer;
  /** A rule allows it because they run in a transaction. */
  readonly needsTransaction: boolean;
}

type Asked = Pick<EngineSettings, 'policy' | 'onDecision' | 'logger' | 'commandGuard' | 'locator'>;

/**
 * Asks the policy about a call that runs commands. Where they would run is looked for only where it decides: while it is
 * not known, a policy that minds is asked what it would say of the least and of the most.
 * @param startsShell it may start a shell in the background, which writes through
 */
export function askContained(
  settings: Asked,
  question: PolicyQuestion,
  startsShell: boolean,
): Contained | Promise<Contained> {
  const { policy, commandGuard: guard, locator } = settings;
  if (policy === null) return { needsTransaction: false, answer: askPolicy(settings, question) };
  const questionIn = (containment: Containment): PolicyQuestion => {
    if (containment === 'transaction') return { ...question, transaction: true };
    return containment === 'sandbox' ? question : { ...question, hiddenBelow: locator.hiddenBelow };
  };
  const finish = (containment: Containment, asked: PolicyQuestion, answer: PolicyAnswer): Contained => ({
    needsTransaction:
      containment === 'transaction' &&
      answer.disposition === 'execute_now' &&
      answer.rule !== undefined &&
      answer.writesThrough !== true,
    answer: observed(settings, asked, answer),
  });
  const answerIn = (containment: Containment): Contained => {
    const asked = questionIn(containment);
    return finish(containment, asked, decide(policy, asked));
  };
  const most = (policy.minds?.(question) ?? true) ? guard.mostContainment(startsShell) : 'none';
  const known = most === 'none' ? most : guard.containment(startsShell);
  if (known !== undefined) return answerIn(known);
  if (policy.minds !== undefined) {
    const asked = questionIn('none');
    const least = decide(policy, asked);
    if (least.disposition === decide(policy, questionIn(most)).disposition)
      return finish('none', asked, least);
  }
  return guard.findContainment(startsShell).then(answerIn);
}
