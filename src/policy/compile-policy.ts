import { type CompiledRule, compileRule } from './rules/compile-rule.js';
import {
  type NormalizedPolicyOptions,
  normalizePolicyOptions,
  type PolicyOptions,
} from './rules/policy-options.js';
import type { PolicyRule } from './rules/policy-rule.js';

/** Parsed options. Only failing examples can still be wrong with them. */
export interface CompiledPolicy {
  readonly options: NormalizedPolicyOptions;
  readonly rules: readonly CompiledRule[];
}

/** @throws ToolError `config_invalid` for an unknown option, an invalid value or an invalid rule. */
export function compilePolicy(given: PolicyOptions): CompiledPolicy {
  const options = normalizePolicyOptions(given);
  return { options, rules: compileRules(options.rules) };
}

function compileRules(rules: NormalizedPolicyOptions['rules']): readonly CompiledRule[] {
  const counts = new Map<string, number>();
  return rules.map((rule, order) => {
    const tier = rule.origin?.tier;
    const list = tier === undefined ? 'rules' : `${tier} rules`;
    const index = counts.get(list) ?? 0;
    counts.set(list, index + 1);
    return compileRule(rule, `${list}[${index}]`, order);
  });
}

/**
 * Whether every call of a tool is refused, with any arguments and effects: such a tool is not shown to a
 * model. True only if certain: the policy is off, a name is on the denylist, a rule denies the name and no
 * more precise rule allows anything, or the mode is `deny` and nothing allows the tool.
 */
export function refusesName(
  { options, rules }: CompiledPolicy,
  name: string,
  aliases: readonly string[] = [],
): boolean {
  const isOn = (list: readonly string[]): boolean =>
    list.includes(name) || aliases.some((alias) => list.includes(alias));
  if (!options.enabled || isOn(options.denylist)) return true;
  const about = rules.filter((rule) => mayMatchName(rule, name, aliases) && holdsIn(rule, options.mode));
  if (about.some((rule) => rule.rule.decision === 'deny' && isByName(rule) && !isOutweighed(rule, about)))
    return true;
  if (options.mode !== 'deny' || isOn(options.allowlist)) return false;
  return !about.some(
    ({ rule, tier }) => rule.decision === 'allow' && (tier !== 'project' || options.projectMayAllow),
  );
}

function mayMatchName({ tools }: CompiledRule, name: string, aliases: readonly string[]): boolean {
  return (
    tools === undefined ||
    tools.some((tool) => tool.matches(name) || aliases.some((one) => tool.matches(one)))
  );
}

function holdsIn({ modes }: CompiledRule, mode: CompiledPolicy['options']['mode']): boolean {
  return modes === undefined || modes.includes(mode);
}

/** Fields that do not depend on a single call. */
const BY_NAME: ReadonlySet<string> = new Set<keyof PolicyRule>([
  'decision',
  'tool',
  'mode',
  'reason',
  'match',
  'not_match',
  'origin',
]);

function isByName({ rule }: CompiledRule): boolean {
  return Object.keys(rule).every((field) => BY_NAME.has(field));
}

/** By another rule of the same tier; no other tier can loosen a denial. */
function isOutweighed(denying: CompiledRule, others: readonly CompiledRule[]): boolean {
  return others.some(
    (other) =>
      other.rule.decision !== 'deny' &&
      other.tier === denying.tier &&
      // A rule about more than a name may be more precise for some call.
      (!isByName(other) || isMorePrecise(other, denying)),
  );
}

/** Compares two rules about names and modes only, by the table of precision. */
function isMorePrecise(one: CompiledRule, other: CompiledRule): boolean {
  const rank = ({ tools, toolNames, modes }: CompiledRule): number =>
    (toolNames !== undefined ? 4 : tools !== undefined ? 2 : 0) + (modes === undefined ? 0 : 1);
  return rank(one) > rank(other);
}
