import type { PolicyAnswer } from '../../contract/policy.js';
import type { RuleEntry } from '../rules/compile-rule.js';
import { asks, type EvaluatedPart, type Evaluation, nameEntry } from './evaluation.js';
import { decisionOf, isConsent } from './rule-match.js';

export function byModeDeny(evaluation: Evaluation): PolicyAnswer | undefined {
  const { basis, question, allowlisted } = evaluation;
  if (basis.mode !== 'deny' || allowlisted !== undefined) return undefined;
  const open = basis.hasRules ? firstNotAllowed(evaluation, () => true) : ALL;
  if (open === undefined) return undefined;
  const about = open === ALL || open.part.kind === undefined ? '' : ` No rule allows ${open.part.shown}.`;
  return {
    disposition: 'pre_resolved',
    code: 'policy_denied',
    reason: `The policy runs only what it allows, and it does not allow ${question.name} here. Do without this call.`,
    hint: `The policy mode "deny" runs only what a rule allows and tools on the allowlist, and ${question.name} is not on it.${about}`,
  };
}

export function byRequirement(evaluation: Evaluation): PolicyAnswer | undefined {
  const { basis, question, allowlisted } = evaluation;
  if (!question.requiresApproval) return undefined;
  if (basis.hasRules) {
    const open = firstWithoutConsent(evaluation);
    if (open === undefined) return undefined;
    const nearly = evaluation.allowOf(open);
    if (nearly !== undefined) {
      return asks(
        `${question.name} requires approval, and a rule without ${CONSENTS[open.part.run === undefined ? 'call' : 'command']} does not lift that: ${nearly.rule.label}.`,
      );
    }
    const why = whyNotCovered(evaluation, open);
    if (why !== '') return asks(`${question.name} requires approval.${why}`);
    if (firstAllowing(evaluation) !== undefined) {
      return asks(`${question.name} requires approval, and no rule allows ${open.part.shown}.`);
    }
  }
  const why =
    allowlisted === undefined ? 'no rule allows this call' : 'a name on the allowlist does not lift that';
  return asks(`${question.name} requires approval, and ${why}.`);
}

function firstWithoutConsent(evaluation: Evaluation): EvaluatedPart | undefined {
  return evaluation.parts.find((evaluated) => {
    const allow = evaluation.allowOf(evaluated);
    return allow === undefined || !isConsent(allow, evaluated.part);
  });
}

/** The fields that a rule needs to count as consent. */
const CONSENTS = { call: 'path, url or args', command: 'path, command or url' };

export function byModePrompt(evaluation: Evaluation): PolicyAnswer | undefined {
  const { basis, question, allowlisted } = evaluation;
  if (basis.mode !== 'prompt' || !basis.promptSideEffects) return undefined;
  if (!question.sideEffecting || allowlisted !== undefined) return undefined;
  const open = basis.hasRules ? firstNotAllowed(evaluation, ({ part }) => part.sideEffecting) : ALL;
  if (open === undefined) return undefined;
  const isPartly = open !== ALL && firstAllowing(evaluation) !== undefined;
  const why = open === ALL ? '' : whyNotCovered(evaluation, open);
  if (why !== '') return asks(`The policy mode "prompt" asks before a call with side effects.${why}`);
  return asks(
    `The policy mode "prompt" asks before a call with side effects, and ${question.name} is not on the allowlist.${
      isPartly ? ` No rule allows ${open.part.shown}.` : ''
    }`,
  );
}

/** For a part that its rule would allow with another path; otherwise empty. */
function whyNotCovered(evaluation: Evaluation, evaluated: EvaluatedPart): string {
  const { match, part } = evaluated;
  if (match === undefined || decisionOf(match) !== 'allow' || evaluation.allowOf(evaluated) !== undefined)
    return '';
  const { label, writes } = match.rule;
  const why =
    writes === undefined
      ? 'which runs later by itself: a rule has to name such a path'
      : 'which its writes do not name';
  return ` The rule ${label} does not cover ${part.shown}, ${why}.`;
}

/** Stands for all parts of a call: without rules nothing is allowed, so the parts are not evaluated one by one. */
const ALL = Symbol('all parts');

function firstNotAllowed(
  evaluation: Evaluation,
  counts: (evaluated: EvaluatedPart) => boolean,
): EvaluatedPart | undefined {
  return evaluation.parts.find(
    (evaluated) => counts(evaluated) && evaluation.allowOf(evaluated) === undefined,
  );
}

function firstAllowing(evaluation: Evaluation): RuleEntry | undefined {
  return evaluation.parts
    .map((evaluated) => evaluation.allowOf(evaluated))
    .find((rule) => rule !== undefined);
}

export function whyItRuns(evaluation: Evaluation): PolicyAnswer {
  const { basis, question, allowlisted } = evaluation;
  if (basis.hasRules) {
    const allowing = firstAllowing(evaluation);
    if (allowing !== undefined) {
      const { label, place } = allowing.rule;
      const answer: PolicyAnswer = {
        disposition: 'execute_now',
        reason: `A rule allows it: ${label}.`,
        rule: place,
      };
      return writesThrough(evaluation) ? { ...answer, writesThrough: true } : answer;
    }
  }
  if (basis.mode === 'auto') return runs('The policy mode "auto" runs calls unasked.');
  if (allowlisted !== undefined) return runs(`${nameEntry(question.name, allowlisted)} on the allowlist.`);
  if (!question.sideEffecting) return NO_SIDE_EFFECTS;
  return runs('The policy does not ask about side effects.');
}

function writesThrough(evaluation: Evaluation): boolean {
  return evaluation.parts.every(
    (evaluated) => evaluation.allowOf(evaluated)?.rule.rule.write_through === true,
  );
}

const NO_SIDE_EFFECTS = Object.freeze(runs('The call has no side effects.'));

function runs(reason: string): PolicyAnswer {
  return { disposition: 'execute_now', reason };
}
