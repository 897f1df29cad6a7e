import type { Effect } from '../../contract/effect.js';
import type { PolicyAnswer } from '../../contract/policy.js';
import { runsCommand } from '../../effects/traits.js';
import type { CommandGuard, CommandSandboxVerdict } from '../call/settings.js';

/**
 * What the OS sandbox around commands has to say about a call, once the policy has let it pass. Looked for only where
 * it decides something: a command that is asked for anyway needs no answer yet, unless the command sandbox is required.
 */
export function evaluateSandbox(
  guard: CommandGuard,
  declared: readonly Effect[],
  { disposition }: PolicyAnswer,
): CommandSandboxVerdict | Promise<CommandSandboxVerdict> {
  if (disposition === 'pre_resolved' || !runsCommand(declared)) return FINE;
  const known = guard.known();
  if (known !== undefined) return known;
  return guard.isRequired || disposition === 'execute_now' ? guard.look() : FINE;
}

const FINE: CommandSandboxVerdict = { kind: 'fine' };

/** A rule, a list or a mode that allows the call was decided without knowing that there is no command sandbox. */
export function answerWith(verdict: CommandSandboxVerdict, answer: PolicyAnswer): PolicyAnswer {
  if (verdict.kind !== 'ask') return answer;
  const reason = `${answer.reason.replace(/[.]+$/, '')}; ${verdict.reason}`;
  return { disposition: 'requires_confirmation', reason, insists: true };
}
