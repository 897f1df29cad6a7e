import type { EffectKind } from '../../contract/effect.js';
import { kindsWith } from '../../effects/effect-kinds.js';
import { alwaysChanges } from '../../effects/traits.js';
import type { PolicyBasis } from '../evaluation/evaluation.js';
import { comparePrecision, isStricter } from '../evaluation/precedence.js';
import { entriesOf } from '../evaluation/rule-index.js';
import { decisionOf, TIER_ORDER } from '../evaluation/rule-match.js';
import type { RuleEntry } from '../rules/compile-rule.js';
import { ARGUMENT_FIELDS, type CompiledRule, listOf } from '../rules/compile-rule.js';
import type { PolicyRule } from '../rules/policy-rule.js';
import { coversRule } from './covers-rule.js';

/** A tool that rules can match. */
export interface KnownTool {
  readonly name: string;
  readonly aliases?: readonly string[];
}

/** Rules without effect, each in one sentence with its name and the reason. */
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

/** The effect kinds that each field of a rule can match. */
const KINDS_OF: Readonly<Record<string, readonly EffectKind[]>> = {
  path: kindsWith('path'),
  command: kindsWith('command'),
  contains: kindsWith('command'),
  url: kindsWith('url'),
};

/** Lists that are meaningful when empty, or that do not affect matching. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set<keyof PolicyRule>(['match', 'not_match', 'writes']);

function whyNever(
  { rule, tools, effects }: CompiledRule,
  names: readonly string[] | undefined,
): string | undefined {
  const empty = Object.entries(rule).find(([, value]) => Array.isArray(value) && value.length === 0)?.[0];
  if (empty !== undefined && !MAY_BE_EMPTY.has(empty)) {
    return `it can never match, because its list of ${empty} is empty`;
  }
  const given = [...ARGUMENT_FIELDS, 'contains' as const].filter((field) => rule[field] !== undefined);
  for (const field of given) {
    const kinds = KINDS_OF[field] ?? [];
    if (
      effects !== undefined &&
      !kinds.some((kind) => listOf(rule.effect ?? []).some((one) => one === kind))
    ) {
      return `it can never match, because ${field} is about ${kinds.join(', ')}, and effect about something else`;
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
    // A rule with several patterns is shadowed if each of them is.
    if (shadowed.has(entry.rule) && shadowed.get(entry.rule) === undefined) continue;
    const by = above.find(
      entry,
      (other) => other.rule !== entry.rule && speaksBefore(other, entry) && coversRule(other, entry),
    );
    shadowed.set(entry.rule, by?.rule);
  }
  return [...shadowed].flatMap(([rule, by]) =>
    by === undefined
      ? []
      : [`${rule.label}: it never decides, because ${by.label} always decides before it.`],
  );
}

function speaksBefore(other: RuleEntry, entry: RuleEntry): boolean {
  const [a, b] = [other.rule.tier, entry.rule.tier];
  if (a === b) return comparePrecision(other, entry).difference > 0;
  if (isStricter(decisionOf(other), decisionOf(entry))) return true;
  return decisionOf(other) === decisionOf(entry) && TIER_ORDER.indexOf(a) < TIER_ORDER.indexOf(b);
}

/**
 * The limit for comparing patterns with wildcards to patterns without: beyond it, only equal ones are
 * compared.
 */
const MAX_PAIRS = 4_000_000;

/** Finds rules that may cover another rule, without comparing every pair. */
class BroaderRules {
  /** Entries without a pattern by tool name; the empty name for those without one. */
  readonly #plain = new Map<string, RuleEntry[]>();
  readonly #bySource = new Map<string, RuleEntry[]>();
  readonly #wild: readonly RuleEntry[];

  constructor(entries: readonly RuleEntry[]) {
    for (const entry of entries) {
      if (entry.argument !== undefined) add(this.#bySource, sourceOf(entry), entry);
      else for (const name of entry.rule.toolNames ?? ['']) add(this.#plain, name, entry);
    }
    const wild = entries.filter(({ argument }) => argument !== undefined && !argument.pattern.isLiteral);
    this.#wild = wild.length * (entries.length - wild.length) > MAX_PAIRS ? [] : wild;
  }

  find(inner: RuleEntry, isIt: (outer: RuleEntry) => boolean): RuleEntry | undefined {
    // A rule that covers all tools of another covers the first.
    const [tool = ''] = inner.rule.toolNames ?? [];
    const { argument } = inner;
    return (
      this.#plain.get('')?.find(isIt) ??
      (tool === '' ? undefined : this.#plain.get(tool)?.find(isIt)) ??
      (argument === undefined ? undefined : this.#bySource.get(sourceOf(inner))?.find(isIt)) ??
      (argument?.pattern.isLiteral === true ? this.#wild.find(isIt) : undefined)
    );
  }
}

function sourceOf({ argument }: RuleEntry): string {
  return argument === undefined ? '' : `${argument.field} ${argument.pattern.source}`;
}

function add(map: Map<string, RuleEntry[]>, key: string, entry: RuleEntry): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [entry]);
  else known.push(entry);
}
