import { type PolicyOptions, type SettledPolicyOptions, settlePolicyOptions } from './policy-options.js';
import { type CompiledRule, compileRule } from './rules/compile-rule.js';

/** Options that have been read; all that is left to find wrong with them is an example that does not hold. */
export interface CompiledPolicy {
  readonly settled: SettledPolicyOptions;
  readonly rules: readonly CompiledRule[];
}

/** @throws ToolError `config_invalid` for an unknown option, a value that is none, and a rule that cannot be read. */
export function compilePolicy(options: PolicyOptions): CompiledPolicy {
  const settled = settlePolicyOptions(options);
  return { settled, rules: compileRules(settled.rules) };
}

function compileRules(rules: SettledPolicyOptions['rules']): readonly CompiledRule[] {
  const counts = new Map<string, number>();
  return rules.map((rule, order) => {
    const tier = rule.origin?.tier;
    const list = tier === undefined ? 'rules' : `${tier} rules`;
    const index = counts.get(list) ?? 0;
    counts.set(list, index + 1);
    return compileRule(rule, `${list}[${index}]`, order);
  });
}
