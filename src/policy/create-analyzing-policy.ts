import { createPolicy, type PolicyParts, type RulePolicy } from './create-policy.js';
import type { PolicyOptions } from './rules/policy-options.js';
import { analyzeCommand } from './shell/analyze-command.js';

/**
 * A policy that analyses commands with the shell's grammar. The public `createPolicy`.
 * @throws ToolError `config_invalid` as `createPolicy` does.
 */
export function createAnalyzingPolicy(
  options: PolicyOptions = {},
  parts: PolicyParts = { analyzeCommand },
): RulePolicy {
  return createPolicy(options, parts);
}
