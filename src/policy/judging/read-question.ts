import type { PolicyQuestion } from '../../contract/policy.js';
import { ToolError } from '../../errors/tool-error.js';

/**
 * A question as it can be judged. Programs without types may leave out what a call is like: what is not said to be
 * harmless is taken to have side effects and to require approval, and what is not said to be inside lies outside.
 * @throws ToolError `bad_args` when it is none.
 */
export function readQuestion(question: PolicyQuestion): PolicyQuestion {
  if (typeof question?.name !== 'string')
    throw new ToolError(
      'bad_args',
      'Cannot decide: the question has no name. Give { name, sideEffecting, requiresApproval }.',
    );
  const { sideEffecting, requiresApproval, sandboxViolation } = question;
  if (isBoolean(sideEffecting) && isBoolean(requiresApproval) && isBoolean(sandboxViolation ?? false))
    return question;
  return {
    ...question,
    sideEffecting: sideEffecting !== false,
    requiresApproval: requiresApproval !== false,
    sandboxViolation: (sandboxViolation ?? false) !== false,
  };
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}
