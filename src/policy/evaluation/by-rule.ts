import type { PolicyAnswer } from '../../contract/policy.js';
import { absentArgument } from '../matching/argument-pattern.js';
import type { RuleDecision } from '../rules/policy-rule.js';
import type { EvaluatedPart, Evaluation } from './evaluation.js';
import { formsOf } from './rule-match.js';

/** The first part that a rule denies, or asks about. */
export function byRule(evaluation: Evaluation, decision: RuleDecision): PolicyAnswer | undefined {
  // Parts are computed on demand: without rules they are not needed.
  if (!evaluation.basis.hasRules) return undefined;
  const found = firstMatched(evaluation, decision);
  if (found?.match === undefined) return undefined;
  const { rule, argument } = found.match;
  const matched = argument?.pattern.source ?? matchedText(found);
  const absent =
    decision === 'deny' && rule.argumentTests !== undefined
      ? absentArgument(rule.argumentTests, formsOf(evaluation.question))
      : undefined;
  const by =
    absent !== undefined
      ? `: ${absent}`
      : matched === undefined
        ? ''
        : `: it matches ${JSON.stringify(matched)}`;
  const { place, label } = rule;
  const own = rule.rule.reason === undefined ? '' : ` ${rule.rule.reason}`;
  const shown = capital(found.part.shown);
  if (decision === 'deny') {
    const reason = `${shown} is denied${by === '' ? ' by a rule' : by}.${own}`;
    return {
      disposition: 'pre_resolved',
      code: 'policy_denied',
      reason,
      hint: `The rule: ${label}.`,
      rule: place,
    };
  }
  const reason = `${shown} is asked about${by} (${label}).${own}`;
  return { disposition: 'requires_confirmation', reason, insists: true, rule: place };
}

function firstMatched({ parts }: Evaluation, decision: RuleDecision): EvaluatedPart | undefined {
  return parts.find(({ match }) => match?.rule.rule.decision === decision);
}

function matchedText({ part, match }: EvaluatedPart): string | undefined {
  return match?.rule.contains?.find((text) => part.run?.text.includes(text));
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
