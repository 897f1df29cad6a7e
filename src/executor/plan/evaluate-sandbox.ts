import type { PolicyAnswer } from '../../contract/policy.js';
import type { Tool } from '../../contract/tool.js';
import type { CommandGuard, CommandSandboxVerdict } from '../call/settings.js';

/**
 * What the OS sandbox around commands has to say about a call that runs one, or a program that belongs into it, once the
 * policy has let it pass. Looked for only where it decides something: a command that is asked for anyway needs no answer
 * yet, unless the command sandbox is required.
 * @param startsShell it may start one in the background, which writes through
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

/** Unless the tool says that it does not. */
export function mayStartShell({ background = true }: Tool, parsed: unknown): boolean {
  return typeof background === 'function' ? background(parsed) !== false : background;
}

export const FINE: CommandSandboxVerdict = { kind: 'fine' };

/** A rule, a list or a mode that allows the call was decided without knowing that there is no command sandbox. */
export function answerWith(verdict: CommandSandboxVerdict, answer: PolicyAnswer): PolicyAnswer {
  if (verdict.kind !== 'ask') return answer;
  const reason = `${answer.reason.replace(/[.]+$/, '')}; ${verdict.reason}`;
  return { disposition: 'requires_confirmation', reason, insists: true };
}
