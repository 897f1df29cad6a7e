import type { Configuration } from '../config/configuration.js';
import type { Tool } from '../contract/tool.js';
import { builtinTools } from '../executor/builtin-tools.js';
import { createPolicy } from '../policy/create-policy.js';

/** What the configuration lets a tool do without looking at a call's arguments. */
export type Consent = 'refused' | 'asked for every call' | 'by what a call touches' | 'not asked for';

export interface OfferedTool {
  readonly tool: Tool;
  readonly consent: Consent;
  /** In the policy's words. */
  readonly reason: string;
}

/** The tools of the command, sorted by name, with what the policy says of each. */
export function offeredTools({ executor }: Configuration): readonly OfferedTool[] {
  return builtinTools(executor.builtins)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map((tool) => ({ tool, ...consentTo(tool, executor.policy) }));
}

function consentTo(
  { name, aliases, requiresApproval }: Tool,
  policy: Configuration['executor']['policy'],
): Omit<OfferedTool, 'tool'> {
  const judge = createPolicy(policy);
  const always = requiresApproval === true;
  const harmless = judge.decide({ name, aliases, sideEffecting: false, requiresApproval: always });
  if (harmless.disposition === 'pre_resolved') return { consent: 'refused', reason: harmless.reason };
  if (harmless.disposition === 'requires_confirmation')
    return { consent: 'asked for every call', reason: harmless.reason };
  const changing = judge.decide({ name, aliases, sideEffecting: true, requiresApproval: always });
  if (changing.disposition === 'execute_now') return { consent: 'not asked for', reason: changing.reason };
  return { consent: 'by what a call touches', reason: changing.reason };
}
