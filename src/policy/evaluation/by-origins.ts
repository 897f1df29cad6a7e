import type { PolicyAnswer } from '../../contract/policy.js';
import { listOf, type RuleEntry } from '../rules/compile-rule.js';
import { allLit, concernOf, isConcerned } from './concern.js';
import type { Evaluation } from './evaluation.js';

/** The step of the origins: whether data that the model has seen makes a call one that a person must see. */
export function byOrigins(evaluation: Evaluation): PolicyAnswer | undefined {
  const { basis, question } = evaluation;
  const { origins, effects = [], sideEffecting, network = false } = question;
  if (origins === undefined || !isConcerned(origins.seen, basis.provenance)) return undefined;
  const { parts } = evaluation;
  const writesLater = parts.some(
    ({ part: { kind, path } }) =>
      path !== undefined && (kind === 'write' || kind === 'delete') && basis.later.matches(path),
  );
  if (parts.every(({ match }) => isAboutOrigins(match))) return undefined;
  const facts = { effects, sideEffecting, network, origins, writesLater };
  const isNamed = parts.every(({ match }) => isAboutOrigins(match) || namesDestination(match));
  const reason = concernOf(facts, basis.provenance) ?? (isNamed ? undefined : allLit(facts));
  return reason === undefined ? undefined : { disposition: 'requires_confirmation', reason, insists: true };
}

/** Whether a rule allows one host or path of it, and not simply every address. */
function namesDestination(match: RuleEntry | undefined): boolean {
  const rule = match?.rule.rule;
  return rule?.decision === 'allow' && rule.url !== undefined && !listOf(rule.url).some(isAnyUrl);
}

function isAnyUrl(pattern: string): boolean {
  return /^(?:[a-z*]+:\/\/)?\*+(?:\.\*+)*(?::\*)?(?:\/\**)?$/i.test(pattern);
}

/** Such a rule was written with origins in mind. */
function isAboutOrigins(match: RuleEntry | undefined): boolean {
  const rule = match?.rule.rule;
  return rule?.decision === 'allow' && (rule.data_from !== undefined || rule.args_from !== undefined);
}
