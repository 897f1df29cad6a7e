import type { CompiledRule, RuleEntry } from '../rules/compile-rule.js';
import type { RuleDecision } from '../rules/policy-rule.js';

interface Criterion {
  readonly name: string;
  /** For the documentation: which rule is more precise. */
  readonly meaning: string;
  readonly of: (entry: RuleEntry) => number;
}

const STRICTNESS: Readonly<Record<RuleDecision, number>> = Object.freeze({ allow: 0, ask: 1, deny: 2 });

export function isStricter(a: RuleDecision, b: RuleDecision): boolean {
  return STRICTNESS[a] > STRICTNESS[b];
}

/**
 * Selects among rules that match the same part of a call: the first line that distinguishes two rules
 * decides. The code uses this table, and docs/policy.md prints it.
 */
export const PRECISION: readonly Criterion[] = Object.freeze([
  {
    name: 'kind of pattern',
    meaning:
      'A literal text of the command (`contains`), and `args`, `data_from` or `args_from` of a rule that asks or denies; then a `path`, `command` or `url` without wildcards; then one with wildcards, and `args` of a rule that allows; then a rule without any.',
    of: kindOfPattern,
  },
  {
    name: 'length',
    meaning: 'The pattern with more characters that are not wildcards.',
    of: ({ argument }) => argument?.pattern.literalCharacters ?? 0,
  },
  {
    name: 'tool',
    meaning: 'A rule that names tools, then one with a pattern for their names, then one for all tools.',
    of: ({ rule }) => (rule.toolNames !== undefined ? 2 : rule.tools !== undefined ? 1 : 0),
  },
  {
    name: 'effect',
    meaning: 'A rule with `effect`.',
    of: ({ rule }) => (rule.effects === undefined ? 0 : 1),
  },
  {
    name: 'circumstances',
    meaning:
      'The rule with more of `category`, `side_effecting`, `idempotent`, `agent`, `mode`, `data_from`, `args_from`.',
    of: ({ rule }) => circumstances(rule),
  },
  {
    name: 'decision',
    meaning: '`deny`, then `ask`, then `allow`.',
    of: ({ rule }) => STRICTNESS[rule.rule.decision],
  },
  { name: 'place', meaning: 'The rule that stands first.', of: ({ rule }) => -rule.order },
]);

// Rules about different arguments are not comparable: no other pattern outweighs a denial by argument.
function kindOfPattern({ rule, argument }: RuleEntry): number {
  const ofArguments = rule.argumentTests === undefined ? 0 : rule.rule.decision === 'allow' ? 1 : 3;
  const ofPattern = argument === undefined ? 0 : argument.pattern.isLiteral ? 2 : 1;
  // Nor does another pattern outweigh a denial by origin.
  const { data_from, args_from, decision } = rule.rule;
  const ofOrigins = decision !== 'allow' && (data_from ?? args_from) !== undefined ? 3 : 0;
  return rule.contains !== undefined ? 3 : Math.max(ofArguments, ofPattern, ofOrigins);
}

function circumstances({ categories, agents, modes, rule }: CompiledRule): number {
  const { side_effecting, idempotent, data_from, args_from } = rule;
  const given = [categories, agents, modes, side_effecting, idempotent, data_from, args_from];
  return given.filter((field) => field !== undefined).length;
}

/** The rank of an entry in each line of the table. */
export function precisionOf(entry: RuleEntry): readonly number[] {
  return PRECISION.map(({ of }) => of(entry));
}

/** The line of the table that distinguishes two entries, and its preference: above 0 for the first. */
export function comparePrecision(
  a: RuleEntry,
  b: RuleEntry,
): { readonly by: string; readonly difference: number } {
  for (let line = 0; line < PRECISION.length; line++) {
    const difference = (a.precision[line] ?? 0) - (b.precision[line] ?? 0);
    if (difference !== 0) return { by: PRECISION[line]?.name ?? '', difference };
  }
  return { by: 'place', difference: 0 };
}
