import type { PolicyAnswer } from '../../contract/policy.js';
import type { EvaluatedPart, Evaluation } from '../evaluation/evaluation.js';
import { comparePrecision, isStricter } from '../evaluation/precedence.js';
import { entriesOf } from '../evaluation/rule-index.js';
import { decisionOf, mismatch } from '../evaluation/rule-match.js';
import type { CompiledRule, RuleEntry } from '../rules/compile-rule.js';
import type { RuleDecision, RuleOrigin } from '../rules/policy-rule.js';

/** A rule in an explanation. */
export interface RuleReference {
  /** `rules[3]`, `user rules[0] (policy.toml:12)`. */
  readonly place: string;
  readonly decision: RuleDecision;
  /** Its content in words. */
  readonly label: string;
  readonly origin?: RuleOrigin;
}

/** The result of one rule. */
export interface Candidate {
  readonly rule: RuleReference;
  /**
   * `decided`: it decided the answer. `spoke`: it applies to a part, but another part or an earlier step
   * decided. `outweighed`: it matches, but another rule applies to the part. `no match`: it matches no part.
   */
  readonly status: 'decided' | 'spoke' | 'outweighed' | 'no match';
  /** In words: the matched part, the rule that outweighs it, or the mismatch. */
  readonly outcome: string;
}

/** A decision with its full reasoning. */
export interface Explanation extends Omit<PolicyAnswer, 'rule'> {
  /** The rule that decided, if any. */
  readonly rule?: RuleReference;
  /** Every rule, in the given order. */
  readonly candidates: readonly Candidate[];
}

/** Explains for each rule why it did or did not decide. */
export function explainDecision(
  answer: PolicyAnswer,
  evaluation: Evaluation,
  rules: readonly CompiledRule[],
): Explanation {
  const { rule: place, ...rest } = answer;
  const deciding = rules.find((rule) => rule.place === place);
  return {
    ...rest,
    ...(deciding === undefined ? {} : { rule: toReference(deciding) }),
    candidates: rules.map((rule) => ({ rule: toReference(rule), ...outcomeOf(rule, evaluation, deciding) })),
  };
}

function toReference({ rule, place, label }: CompiledRule): RuleReference {
  const reference = { place, decision: rule.decision, label };
  return rule.origin === undefined ? reference : { ...reference, origin: rule.origin };
}

function outcomeOf(
  rule: CompiledRule,
  evaluation: Evaluation,
  deciding: CompiledRule | undefined,
): Omit<Candidate, 'rule'> {
  const won = evaluation.parts.find(({ match }) => match?.rule === rule);
  if (won !== undefined) {
    const shown = `it applies to ${won.part.shown}`;
    if (rule === deciding) return { status: 'decided', outcome: `${shown}, and decides` };
    const why = deciding === undefined ? 'something else decides' : `${deciding.place} decides`;
    return { status: 'spoke', outcome: `${shown}; ${why}` };
  }
  return outweighed(rule, evaluation) ?? { status: 'no match', outcome: whyNot(rule, evaluation) };
}

function outweighed(rule: CompiledRule, evaluation: Evaluation): Omit<Candidate, 'rule'> | undefined {
  for (const evaluated of evaluation.parts) {
    const { match } = evaluated;
    const entry = match === undefined ? undefined : bestMatch(rule, evaluated, evaluation);
    if (match === undefined || entry === undefined) continue;
    return {
      status: 'outweighed',
      outcome: `it matches ${evaluated.part.shown}, but ${compare(match, entry)}`,
    };
  }
  return undefined;
}

function compare(winner: RuleEntry, loser: RuleEntry): string {
  const { place, tier } = winner.rule;
  if (tier === loser.rule.tier) return `${place} is more precise (${comparePrecision(winner, loser).by})`;
  if (isStricter(decisionOf(winner), decisionOf(loser))) return `${place} is stricter`;
  return `${place} stands in a higher tier, and a lower one can only tighten`;
}

function bestMatch(
  rule: CompiledRule,
  { part }: EvaluatedPart,
  evaluation: Evaluation,
): RuleEntry | undefined {
  return entriesOf(rule)
    .filter((entry) => mismatch(entry, part, evaluation) === undefined)
    .sort((a, b) => comparePrecision(b, a).difference)[0];
}

/** The mismatch for the closest part: the one where only the pattern fails. */
function whyNot(rule: CompiledRule, evaluation: Evaluation): string {
  const entries = entriesOf(rule);
  if (entries.length === 0) return 'it can never match';
  const reasons = evaluation.parts.flatMap(({ part }) =>
    entries.map((entry) => ({ part, why: mismatch(entry, part, evaluation) ?? '' })),
  );
  const near = reasons.find(({ why }) => why.startsWith('"')) ?? reasons[0];
  if (near === undefined) return 'it does not match';
  return near.why.startsWith('"') ? `${near.why} ${near.part.shown}` : near.why;
}
