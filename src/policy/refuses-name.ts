import type { CompiledPolicy } from './compile-policy.js';
import { comparePrecision } from './judging/precedence.js';
import { entriesOf } from './judging/rule-index.js';
import type { CompiledRule } from './rules/compile-rule.js';
import type { PolicyRule } from './rules/policy-rule.js';

/**
 * Whether every call of a tool is refused, whatever its arguments and effects: such a tool is not shown to a model. Says
 * yes only where it is certain: the policy is off, a name is on the denylist, a rule denies the name and no more precise
 * one lets anything pass, or the mode is `deny` and nothing allows the tool.
 */
export function refusesName(
  { settled, rules }: CompiledPolicy,
  name: string,
  aliases: readonly string[] = [],
): boolean {
  const isOn = (list: readonly string[]): boolean =>
    list.includes(name) || aliases.some((alias) => list.includes(alias));
  if (!settled.enabled || isOn(settled.denylist)) return true;
  const about = rules.filter((rule) => mayMatchName(rule, name, aliases) && holdsIn(rule, settled.mode));
  if (about.some((rule) => deniesByName(rule) && !isOutweighed(rule, about))) return true;
  if (settled.mode !== 'deny' || isOn(settled.allowlist)) return false;
  return !about.some(
    ({ rule, tier }) => rule.decision === 'allow' && (tier !== 'project' || settled.projectMayAllow),
  );
}

function mayMatchName({ tools }: CompiledRule, name: string, aliases: readonly string[]): boolean {
  return (
    tools === undefined ||
    tools.some((tool) => tool.matches(name) || aliases.some((one) => tool.matches(one)))
  );
}

function holdsIn({ modes }: CompiledRule, mode: CompiledPolicy['settled']['mode']): boolean {
  return modes === undefined || modes.includes(mode);
}

/** Fields that say nothing about a single call. */
const BY_NAME: ReadonlySet<string> = new Set<keyof PolicyRule>([
  'decision',
  'tool',
  'mode',
  'reason',
  'match',
  'not_match',
  'origin',
]);

function deniesByName({ rule }: CompiledRule): boolean {
  return rule.decision === 'deny' && Object.keys(rule).every((field) => BY_NAME.has(field));
}

/** In its own tier; no other tier can loosen what one denies. */
function isOutweighed(denying: CompiledRule, others: readonly CompiledRule[]): boolean {
  const [entry] = entriesOf(denying);
  return others.some(
    (other) =>
      other.rule.decision !== 'deny' &&
      other.tier === denying.tier &&
      entriesOf(other).some((one) => entry === undefined || comparePrecision(one, entry).difference > 0),
  );
}
