import type { EffectKind } from '../../contract/effect.js';
import { kindsWith } from '../../effects/effect-kinds.js';
import { alwaysChanges } from '../../effects/traits.js';
import type { PolicyBasis } from '../judging/judgement.js';
import { comparePrecision, isStricter } from '../judging/precedence.js';
import { entriesOf } from '../judging/rule-index.js';
import { decisionOf, TIER_ORDER } from '../judging/ruling.js';
import { ARGUMENT_FIELDS, type CompiledRule, listOf } from '../rules/compile-rule.js';
import type { PolicyRule } from '../rules/policy-rule.js';
import type { RuleEntry } from '../rules/rule-entry.js';
import { BroaderRules } from './broader-rules.js';
import { coversRule } from './covers-rule.js';

/** A tool that rules may speak of. */
export interface KnownTool {
  readonly name: string;
  readonly aliases?: readonly string[];
}

/** Rules that do nothing: each in one sentence that names it and says why. */
export function findProblems(
  rules: readonly CompiledRule[],
  basis: PolicyBasis,
  tools: readonly KnownTool[] | undefined,
): readonly string[] {
  const names = tools?.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  const live: RuleEntry[] = [];
  const problems: string[] = [];
  for (const rule of rules) {
    const why = whyNever(rule, names) ?? whyIdle(rule, basis);
    if (why !== undefined) problems.push(`${rule.label}: ${why}.`);
    else live.push(...entriesOf(rule));
  }
  return [...problems, ...findShadowed(live)];
}

/** Of which kinds each field of a rule can speak. */
const KINDS_OF: Readonly<Record<string, readonly EffectKind[]>> = {
  path: kindsWith('path'),
  command: kindsWith('command'),
  contains: kindsWith('command'),
  url: kindsWith('url'),
};

function whyNever(
  { rule, tools, effects }: CompiledRule,
  names: readonly string[] | undefined,
): string | undefined {
  const empty = Object.entries(rule).find(([, value]) => Array.isArray(value) && value.length === 0)?.[0];
  if (empty !== undefined && empty !== 'match' && empty !== 'not_match') {
    return `it can never match, because its list of ${empty} is empty`;
  }
  const given = [...ARGUMENT_FIELDS, 'contains' as const].filter((field) => rule[field] !== undefined);
  for (const field of given) {
    const kinds = KINDS_OF[field] ?? [];
    if (
      effects !== undefined &&
      !kinds.some((kind) => listOf(rule.effect ?? []).some((one) => one === kind))
    ) {
      return `it can never match, because ${field} speaks of ${kinds.join(', ')} and effect of something else`;
    }
    const other = given.find((one) => !(KINDS_OF[one] ?? []).some((kind) => kinds.includes(kind)));
    if (other !== undefined) {
      return `it can never match, because no part of a call has both ${field} and ${other}. Write two rules`;
    }
  }
  if (rule.side_effecting === false && changesOnly(rule)) {
    return 'it can never match, because what it names is a side effect, and side_effecting is false';
  }
  if (
    tools !== undefined &&
    names !== undefined &&
    !tools.some((tool) => names.some((name) => tool.matches(name)))
  ) {
    return `it can never match, because no tool is called ${tools.map(({ source }) => source).join(' or ')}`;
  }
  return undefined;
}

function changesOnly({ effect, command, contains, url }: PolicyRule): boolean {
  if (command !== undefined || contains !== undefined || url !== undefined) return true;
  return effect !== undefined && listOf(effect).every(alwaysChanges);
}

function whyIdle({ rule, toolNames, tier }: CompiledRule, basis: PolicyBasis): string | undefined {
  if (tier === 'project' && rule.decision === 'allow' && !basis.projectMayAllow) {
    return 'it does nothing until the project is trusted: a project can only tighten';
  }
  if (toolNames !== undefined && [...toolNames].every((name) => basis.denied.has(name))) {
    return 'it does nothing, because the denylist refuses its tools before rules are asked';
  }
  return undefined;
}

function findShadowed(entries: readonly RuleEntry[]): readonly string[] {
  const above = new BroaderRules(entries);
  const shadowed = new Map<CompiledRule, CompiledRule | undefined>();
  for (const entry of entries) {
    // A rule with several patterns is shadowed when each of them is.
    if (shadowed.has(entry.rule) && shadowed.get(entry.rule) === undefined) continue;
    const by = above.find(
      entry,
      (other) => other.rule !== entry.rule && speaksBefore(other, entry) && coversRule(other, entry),
    );
    shadowed.set(entry.rule, by?.rule);
  }
  return [...shadowed].flatMap(([rule, by]) =>
    by === undefined ? [] : [`${rule.label}: it never decides, because ${by.label} always speaks before it.`],
  );
}

function speaksBefore(other: RuleEntry, entry: RuleEntry): boolean {
  const [a, b] = [other.rule.tier, entry.rule.tier];
  if (a === b) return comparePrecision(other, entry).difference > 0;
  if (isStricter(decisionOf(other), decisionOf(entry))) return true;
  return decisionOf(other) === decisionOf(entry) && TIER_ORDER.indexOf(a) < TIER_ORDER.indexOf(b);
}
