import type { PolicyAnswer } from '../../contract/policy.js';
import { isUntrusted } from '../../patterns/origin.js';
import { absentArgument } from '../matching/argument-pattern.js';
import type { RunText } from '../rules/call-part.js';
import { listOf, type RuleEntry } from '../rules/compile-rule.js';
import type { RuleDecision } from '../rules/policy-rule.js';
import { allLit, concernOf } from './concern.js';
import { type EvaluatedPart, type Evaluation, entryOf } from './evaluation.js';
import { formsOf, isConsent } from './rule-match.js';

interface Step {
  readonly name: string;
  /** For the documentation. */
  readonly meaning: string;
  /** It needs neither arguments nor effects, and comes first. */
  readonly byName?: true;
  /** Undefined: the next step decides. */
  readonly answer: (evaluation: Evaluation) => PolicyAnswer | undefined;
}

/**
 * The steps of a decision in order; the first step that answers decides (D041). The code uses this table, and
 * docs/policy.md prints it. So no step can override an earlier one: no rule a step before `rules: deny`, no
 * consent a refusal.
 */
export const ORDER: readonly Step[] = Object.freeze([
  {
    name: 'disabled',
    meaning: 'The policy is switched off: `policy_disabled`.',
    byName: true,
    answer: ({ basis }) => (basis.enabled ? undefined : DISABLED),
  },
  {
    name: 'denylist',
    meaning: 'One of the names of the tool is on the denylist: `denylisted`.',
    byName: true,
    answer: byDenylist,
  },
  {
    name: 'sandbox',
    meaning: 'The call reaches outside the sandbox: `sandbox_violation`.',
    answer: ({ question }) => (question.sandboxViolation === true ? OUTSIDE_SANDBOX : undefined),
  },
  {
    name: 'blocked command',
    meaning: 'The command analysis says `block`: `security_violation`.',
    answer: byBlock,
  },
  {
    name: 'rules: deny',
    meaning: 'A rule denies a part of the call: `policy_denied`.',
    answer: (evaluation) => byRule(evaluation, 'deny'),
  },
  {
    name: 'mode deny',
    meaning:
      'In mode `deny`: a part that no rule allows, of a tool that is not on the allowlist: `policy_denied`.',
    answer: byModeDeny,
  },
  {
    name: 'unclear command',
    meaning:
      'The command analysis says `ask`, or it cannot be told whether a rule matches: approval is needed.',
    answer: byUnclear,
  },
  {
    name: 'seen outside',
    meaning:
      'A command is seen to touch what the sandbox refuses: approval is needed, whatever allows the command.',
    answer: bySeen,
  },
  {
    name: 'rules: ask',
    meaning: 'A rule asks about a part of the call: approval is needed.',
    answer: (evaluation) => byRule(evaluation, 'ask'),
  },
  {
    name: 'origins',
    meaning:
      'Text from outside was seen, and the call would send data of the workspace out, reach the network by a command, write what runs later, or change something outside as that text says; or private data was read as well, and the call can send data out to more than hosts that a rule with `url` names; with `provenance = "ask"`: it has a side effect at all. Approval is needed. A rule with `data_from` or `args_from` that allows the call lifts it.',
    answer: byOrigins,
  },
  {
    name: 'requirement',
    meaning:
      'The tool requires approval, and not every part is allowed by a rule with `path`, `command` or `url`, or, where it is no command, with `args`: approval is needed.',
    answer: byRequirement,
  },
  {
    name: 'mode prompt',
    meaning:
      'In mode `prompt` with `promptSideEffects`: a part with side effects that no rule allows, of a tool that is not on the allowlist: approval is needed.',
    answer: byModePrompt,
  },
  {
    name: 'hidden below',
    meaning:
      'A command reads a directory with all below it, where files lie that the sandbox hides, or files by a wildcard that may be hidden, and nothing hides them from it: approval is needed.',
    answer: byHiddenBelow,
  },
  { name: 'run', meaning: 'The call runs unasked.', answer: whyItRuns },
]);

/** D036: word for word. */
const DISABLED: PolicyAnswer = Object.freeze({
  disposition: 'pre_resolved',
  code: 'policy_disabled',
  reason: 'Tool execution disabled by policy',
  hint: 'Set policy.enabled to true.',
});

const OUTSIDE_SANDBOX: PolicyAnswer = Object.freeze({
  disposition: 'pre_resolved',
  code: 'sandbox_violation',
  reason: 'The call reaches outside the sandbox; no list, no rule and no approval lifts that.',
});

function byDenylist({ basis, question: { name, aliases } }: Evaluation): PolicyAnswer | undefined {
  const entry = entryOf(basis.denied, name, aliases);
  if (entry === undefined) return undefined;
  return {
    disposition: 'pre_resolved',
    code: 'denylisted',
    reason: `${name} is refused by the policy, whatever its arguments. Do without it.`,
    hint: `${nameEntry(name, entry)} on the denylist.`,
  };
}

function byOrigins(evaluation: Evaluation): PolicyAnswer | undefined {
  const { basis, question } = evaluation;
  const { origins, effects = [], sideEffecting, network = false } = question;
  if (origins === undefined || basis.provenance === 'off' || !origins.seen.some(isUntrusted))
    return undefined;
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

/** A rule that allows one host or path of it, and not whatever there is. */
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

function byBlock(evaluation: Evaluation): PolicyAnswer | undefined {
  if (evaluation.basis.analyzeCommand === undefined) return undefined;
  const blocked = evaluation.runs.find(isBlocked)?.analysis;
  if (blocked === undefined) return undefined;
  const why = blocked.reasons.join(' ');
  const isSaid = /blocked/i.test(why) && /dangerous/i.test(why);
  return {
    disposition: 'pre_resolved',
    code: 'security_violation',
    reason: isSaid ? why : `The command is blocked as dangerous. ${why}`.trim(),
  };
}

// Defined once, because a closure at each use would allocate an object for every call.
function isBlocked({ analysis }: RunText): boolean {
  return analysis?.verdict === 'block';
}

function isUnclear({ analysis }: RunText): boolean {
  return analysis?.verdict === 'ask';
}

function byRule(evaluation: Evaluation, decision: RuleDecision): PolicyAnswer | undefined {
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

function byModeDeny(evaluation: Evaluation): PolicyAnswer | undefined {
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

function byUnclear(evaluation: Evaluation): PolicyAnswer | undefined {
  const { basis } = evaluation;
  if (basis.analyzeCommand !== undefined) {
    const unclear = evaluation.runs.find(isUnclear)?.analysis;
    if (unclear !== undefined) {
      const why = unclear.reasons.join(' ');
      return asks(
        `The command is not understood for certain, so that no rule can allow it. ${why}`.trim(),
        true,
      );
    }
  }
  const { unread } = evaluation;
  if (unread === undefined) return undefined;
  const { part, entry } = unread;
  return asks(`It cannot be told whether a rule matches ${part.shown}: ${entry.rule.label}.`, true);
}

function bySeen(evaluation: Evaluation): PolicyAnswer | undefined {
  const { refusal } = evaluation.question;
  if (refusal === undefined || evaluation.runs.length === 0) return undefined;
  for (const { part } of evaluation.parts) {
    const { run } = part;
    const seen = part.named ?? part.seen;
    if (seen === undefined || !('path' in seen)) continue;
    const why = refusal(seen, run?.from);
    if (why !== undefined)
      return asks(`The command would ${part.shown}, which no file tool may. ${why}`, true);
  }
  return undefined;
}

/** The last step, so that directories are read only for a call that would run without a question. */
function byHiddenBelow(evaluation: Evaluation): PolicyAnswer | undefined {
  const { question, runs: lines } = evaluation;
  const { hiddenBelow, expand, transaction } = question;
  if (transaction === true) return undefined;
  for (const { analysis, from } of lines) {
    for (const { reads = [] } of analysis?.found ?? []) {
      for (const path of reads) {
        const hidden = hiddenBelow?.(path, from);
        if (hidden !== undefined)
          return asks(`The command would read what lies below ${path}, and there is ${hidden}.`, true);
        const isBlind =
          expand === undefined || (hiddenBelow !== undefined && expand(path, from) === undefined);
        if (/[*?[]/.test(path) && isBlind)
          return asks(`The command would read files by a wildcard, ${path}, which may be hidden ones.`, true);
      }
    }
  }
  return undefined;
}

function byRequirement(evaluation: Evaluation): PolicyAnswer | undefined {
  const { basis, question } = evaluation;
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
    if (firstAllowing(evaluation) !== undefined) {
      return asks(`${question.name} requires approval, and no rule allows ${open.part.shown}.`);
    }
  }
  return asks(`${question.name} requires approval, whatever the policy allows.`);
}

function firstWithoutConsent(evaluation: Evaluation): EvaluatedPart | undefined {
  return evaluation.parts.find((evaluated) => {
    const allow = evaluation.allowOf(evaluated);
    return allow === undefined || !isConsent(allow, evaluated.part);
  });
}

/** The fields that a rule needs to count as consent. */
const CONSENTS = { call: 'path, url or args', command: 'path, command or url' };

function byModePrompt(evaluation: Evaluation): PolicyAnswer | undefined {
  const { basis, question, allowlisted } = evaluation;
  if (basis.mode !== 'prompt' || !basis.promptSideEffects) return undefined;
  if (!question.sideEffecting || allowlisted !== undefined) return undefined;
  const open = basis.hasRules ? firstNotAllowed(evaluation, ({ part }) => part.sideEffecting) : ALL;
  if (open === undefined) return undefined;
  const isPartly = open !== ALL && firstAllowing(evaluation) !== undefined;
  return asks(
    `The policy mode "prompt" asks before a call with side effects, and ${question.name} is not on the allowlist.${
      isPartly ? ` No rule allows ${open.part.shown}.` : ''
    }`,
  );
}

/** Without rules, no rule can allow anything, so the parts are not needed. */
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

function whyItRuns(evaluation: Evaluation): PolicyAnswer {
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

function asks(reason: string, insists = false): PolicyAnswer {
  return insists
    ? { disposition: 'requires_confirmation', reason, insists }
    : { disposition: 'requires_confirmation', reason };
}

function nameEntry(name: string, entry: string): string {
  return name === entry ? `${name} is` : `${name} is (as ${entry})`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
