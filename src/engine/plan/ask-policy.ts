import type { Policy, PolicyAnswer, PolicyQuestion } from '../../contract/policy.js';
import type { Tool } from '../../contract/tool.js';
import { isErrorCode } from '../../errors/catalogue.js';
import { reasonOf } from '../record/reason-of.js';

/** Asks the policy about a call. A guard that fails, or gives no answer, must not open the gate. */
export function askPolicy(policy: Policy | null, question: PolicyQuestion): PolicyAnswer {
  if (policy === null) return question.requiresApproval ? NO_POLICY_ASKS : NO_POLICY_RUNS;
  try {
    return settle(policy.decide(question));
  } catch (error) {
    return failed(error);
  }
}

/** Asks for what the policy says of a name alone; undefined when it says nothing yet. */
export function screenByPolicy(
  policy: Policy | null,
  name: string,
  tool: Tool | undefined,
): PolicyAnswer | undefined {
  if (policy?.screen === undefined) return undefined;
  try {
    const answer: unknown = policy.screen(tool?.name ?? name, tool?.aliases ?? []);
    if (answer === undefined) return undefined;
    const settled = settle(answer);
    // Only a refusal can be said of a name alone: whatever else it means, arguments and sandbox come first.
    return settled.disposition === 'pre_resolved' ? settled : undefined;
  } catch (error) {
    return failed(error);
  }
}

const NO_POLICY_ASKS: PolicyAnswer = {
  disposition: 'requires_confirmation',
  reason: 'the tool requires approval for every call',
};
const NO_POLICY_RUNS: PolicyAnswer = { disposition: 'execute_now', reason: 'no policy is set' };

function settle(answer: unknown): PolicyAnswer {
  if (typeof answer !== 'object' || answer === null) return failed('it gave no disposition');
  const { disposition, code, reason } = answer as { readonly [key: string]: unknown };
  switch (disposition) {
    case 'execute_now':
    case 'requires_confirmation':
      return { disposition, reason: textOf(reason) };
    case 'pre_resolved':
      return { disposition, code: isErrorCode(code) ? code : 'policy_denied', reason: textOf(reason) };
    default:
      return failed('it gave no disposition');
  }
}

function textOf(reason: unknown): string {
  return typeof reason === 'string' && reason !== '' ? reason : 'The policy gives no reason.';
}

function failed(why: unknown): PolicyAnswer {
  return {
    disposition: 'pre_resolved',
    code: 'policy_denied',
    reason: `The policy could not judge this call: ${reasonOf(why)}`,
  };
}
