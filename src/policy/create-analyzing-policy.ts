import { analyzeCommand } from './command/analyze-command.js';
import type { CompiledPolicy } from './compile-policy.js';
import { createPolicy, type PolicyParts, policyOf, type RulePolicy } from './create-policy.js';
import type { PolicyOptions } from './policy-options.js';

/**
 * The policy with commands judged by the grammar of the shell: what programs get as `createPolicy`.
 * @throws ToolError `config_invalid` as `createPolicy` does.
 */
export function createAnalyzingPolicy(
  options: PolicyOptions = {},
  parts: PolicyParts = { analyzeCommand },
): RulePolicy {
  return createPolicy(options, parts);
}

/**
 * The same of options that have been read.
 * @throws ToolError `config_invalid` for an example of a rule that does not hold.
 */
export function analyzingPolicyOf(compiled: CompiledPolicy): RulePolicy {
  return policyOf(compiled, { analyzeCommand });
}
