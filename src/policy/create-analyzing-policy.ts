import { createPolicy, type PolicyParts, type RulePolicy } from './create-policy.js';
import type { PolicyOptions } from './rules/policy-options.js';
import { analyzeCommand } from './shell/analyze-command.js';

/**
 * The policy with commands evaluated by the grammar of the shell: what programs get as `createPolicy`.
 * @throws ToolError `config_invalid` as `createPolicy` does.
 */
export function createAnalyzingPolicy(
  options: PolicyOptions = {},
  parts: PolicyParts = { analyzeCommand },
): RulePolicy {
  return createPolicy(options, parts);
}
