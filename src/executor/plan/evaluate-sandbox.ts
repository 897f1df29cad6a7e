import type { PolicyAnswer } from '../../contract/policy.js';
import type { Tool } from '../../contract/tool.js';
import type { CommandGuard, CommandSandboxVerdict } from '../call/settings.js';

/**
 * The verdict of the OS sandbox on a call that runs a command, or a program that belongs in the sandbox. The
 * policy has already allowed the call. The sandbox is tested only if the test can change the outcome: if the command
 * needs a question anyway, the test waits, unless the command sandbox is required.
 * @param startsShell whether the call may start a background shell, which writes through
 */
export function evaluateSandbox(
  guard: CommandGuard,
  { disposition, writesThrough }: PolicyAnswer,
  startsShell: boolean,
): CommandSandboxVerdict | Promise<CommandSandboxVerdict> {
  const isThrough = startsShell || writesThrough === true;
  const known = guard.known(isThrough);
  if (known !== undefined) return known;
  return guard.isRequired || disposition === 'execute_now' ? guard.look(isThrough) : FINE;
}

/** Whether a call may start a background shell. The default is yes, unless the tool says no. */
export function mayStartShell({ background = true }: Tool, parsed: unknown): boolean {
  return typeof background === 'function' ? background(parsed) !== false : background;
}

export const FINE: CommandSandboxVerdict = { kind: 'fine' };

/**
 * If there is no command sandbox, the call needs approval: the rule, list or mode that allowed it did not
 * know that.
 */
export function answerWith(verdict: CommandSandboxVerdict, answer: PolicyAnswer): PolicyAnswer {
  if (verdict.kind !== 'ask') return answer;
  const reason = `${answer.reason.replace(/[.]+$/, '')}; ${verdict.reason}`;
  return { disposition: 'requires_confirmation', reason, insists: true };
}
