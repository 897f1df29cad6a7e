import type { PolicyAnswer } from '../../contract/policy.js';
import { listOf, type RuleEntry } from '../rules/compile-rule.js';
import { allLit, concernOf, isConcerned } from './concern.js';
import type { Evaluation } from './evaluation.js';

/** The step for origins: whether the data that the model has seen requires a person to see the call. */
export function byOrigins(evaluation: Evaluation): PolicyAnswer | undefined {
  const { basis, question } = evaluation;
  const { origins, effects = [], sideEffecting, network = false } = question;
  if (origins === undefined || !isConcerned(origins.seen, basis.provenance)) return undefined;
  const { parts } = evaluation;
  const writesLater = parts.some(
    ({ part: { kind, path } }) =>
      path !== undefined && (kind === 'write' || kind === 'delete') && evaluation.runsLater(path),
  );
  if (parts.every(({ match }) => isAboutOrigins(match))) return undefined;
  const facts = { effects, sideEffecting, network, origins, writesLater };
  const isNamed = parts.every(({ match }) => isAboutOrigins(match) || namesDestination(match));
  const reason = concernOf(facts, basis.provenance) ?? (isNamed ? undefined : allLit(facts));
  return reason === undefined ? undefined : { disposition: 'requires_confirmation', reason, insists: true };
}

/** Whether a rule names the host or path, and does not simply allow every address. */
function namesDestination(match: RuleEntry | undefined): boolean {
  const rule = match?.rule.rule;
  return rule?.decision === 'allow' && rule.url !== undefined && !listOf(rule.url).some(isAnyUrl);
}

function isAnyUrl(pattern: string): boolean {
  return /^(?:[a-z*]+:\/\/)?\*+(?:\.\*+)*(?::\*)?(?:\/\**)?$/i.test(pattern);
}

/** Whether the rule was written with origins in mind. */
function isAboutOrigins(match: RuleEntry | undefined): boolean {
  const rule = match?.rule.rule;
  return rule?.decision === 'allow' && (rule.data_from !== undefined || rule.args_from !== undefined);
}
