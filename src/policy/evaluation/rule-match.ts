import type { PolicyQuestion } from '../../contract/policy.js';
import { type ArgumentForms, type ArgumentTest, argumentMismatch } from '../matching/argument-pattern.js';
import type { CallPart } from '../rules/call-part.js';
import type { RuleEntry } from '../rules/compile-rule.js';
import { type CompiledRule, callMismatch, matchesArgument, partMismatch } from '../rules/compile-rule.js';
import type { PolicyMode } from '../rules/policy-rule.js';
import { comparePrecision, isStricter } from './precedence.js';
import type { RuleIndex } from './rule-index.js';

export interface Circumstances {
  /**
   * The results of rules with `args` for this call. Each is computed once, because a call may have a thousand
   * parts.
   */
  readonly argumentAnswers: Map<CompiledRule, string | undefined>;
  readonly question: PolicyQuestion;
  readonly mode: PolicyMode;
  /** Whether a project's rules may allow; otherwise they only ask and deny. */
  readonly projectMayAllow: boolean;
}

/** The rule for a part; undefined if none matches. */
export function matchOf(part: CallPart, index: RuleIndex, at: Circumstances): RuleEntry | undefined {
  const best: Partial<Record<CompiledRule['tier'], RuleEntry>> = {};
  index.find(at.question, part, (entry) => {
    const { tier } = entry.rule;
    const known = best[tier];
    if (known === entry || (known !== undefined && comparePrecision(known, entry).difference >= 0)) return;
    if (mismatch(entry, part, at) === undefined) best[tier] = entry;
  });
  let winner: RuleEntry | undefined;
  for (const tier of TIER_ORDER) {
    const entry = best[tier];
    // A lower tier can only tighten the decision of a higher one.
    if (entry !== undefined && (winner === undefined || isStricter(decisionOf(entry), decisionOf(winner)))) {
      winner = entry;
    }
  }
  return winner;
}

/** From the highest: the program, then the files of the machine, the person and the project. */
export const TIER_ORDER = Object.freeze(['program', 'administrator', 'user', 'project'] as const);

/** Why an entry does not match a part; undefined if it does. */
export function mismatch(entry: RuleEntry, part: CallPart, at: Circumstances): string | undefined {
  const { rule, argument } = entry;
  if (rule.tier === 'project' && rule.rule.decision === 'allow' && !at.projectMayAllow) {
    return 'a project that is not trusted can only ask and deny';
  }
  const why =
    callMismatch(rule, at.question, at.mode) ??
    partMismatch(rule, part) ??
    (rule.argumentTests === undefined ? undefined : argumentsOf(rule, rule.argumentTests, at));
  if (why !== undefined || argument === undefined) return why;
  // The changes of a command that writes through take effect at once.
  const isContained =
    at.question.transaction === true && rule.rule.decision === 'allow' && rule.rule.write_through !== true;
  if (matchesArgument(argument, part, isContained)) return undefined;
  return `"${argument.pattern.source}" does not match`;
}

function argumentsOf(
  rule: CompiledRule,
  tests: readonly ArgumentTest[],
  { question, argumentAnswers }: Circumstances,
): string | undefined {
  if (argumentAnswers.has(rule)) return argumentAnswers.get(rule);
  const why = argumentMismatch(tests, formsOf(question), rule.rule.decision);
  argumentAnswers.set(rule, why);
  return why;
}

export function formsOf({ args, parsedArgs }: PolicyQuestion): ArgumentForms {
  return parsedArgs === undefined ? [args] : [args, parsedArgs];
}

/** Whether a matching rule counts as consent: it names the exact thing, or the exact arguments. */
export function isConsent({ rule, argument }: RuleEntry, { run }: CallPart): boolean {
  // An argument's text in a command says nothing about the rest of the line.
  return argument !== undefined || (rule.argumentTests !== undefined && run === undefined);
}

/**
 * A rule that might match this part if it were readable: a command without analysis that is not a single
 * plain command, or a text that is not a URL.
 */
export function unreadable(part: CallPart, index: RuleIndex, at: Circumstances): RuleEntry | undefined {
  const field = unreadableField(part);
  if (field === undefined) return undefined;
  return index
    .withField(field)
    .find((entry) => mismatch({ ...entry, argument: undefined }, part, at) === undefined);
}

function unreadableField(part: CallPart): 'command' | 'url' | undefined {
  if (part.kind === 'run' && part.words === undefined && part.seen === undefined) return 'command';
  return part.url !== undefined && part.url.scheme === undefined ? 'url' : undefined;
}

export function decisionOf({ rule }: RuleEntry) {
  return rule.rule.decision;
}
