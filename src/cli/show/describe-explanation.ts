import { sanitize } from '../../output/sanitize.js';
import type { ExplainedCall } from '../commands/explain-calls.js';
import { describePlan } from './describe-plan.js';
import type { Palette } from './palette.js';

/** A call as a plan shows it, then what became of every rule. */
export function describeExplanation({ call, explanation }: ExplainedCall, palette: Palette): string {
  const plan = describePlan({ calls: [call] }, palette);
  if (explanation === undefined) return `${plan}  rules    not asked: this was decided before\n`;
  if (explanation.candidates.length === 0) return `${plan}  rules    there are none\n`;
  const lines = explanation.candidates.map(({ rule, status, outcome }) => {
    const mark = status === 'decided' ? palette.bold('▸') : ' ';
    return `${mark} ${sanitize(`${rule.place}: ${rule.label}: ${outcome}`, 'inline')}\n`;
  });
  return `${plan}${lines.join('')}`;
}
