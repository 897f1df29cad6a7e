import type { ToolCall } from '../../contract/call.js';
import type {
  ObservedQuestion,
  Policy,
  PolicyAnswer,
  PolicyQuestion,
  WriteConsent,
} from '../../contract/policy.js';
import type { Tool } from '../../contract/tool.js';
import { parseEffects } from '../../effects/parse-effects.js';
import { isErrorCode } from '../../errors/catalogue.js';
import { reasonOf } from '../answer/results.js';
import type { PlanSettings } from '../call/settings.js';
import { ignoreRejection } from '../call/shields.js';
import { recordable } from './refuse.js';

type Asked = Pick<PlanSettings, 'policy' | 'onDecision' | 'logger'>;

/** Asks the policy about a call and reports the answer to observers. */
export function askPolicy(settings: Asked, question: PolicyQuestion): PolicyAnswer {
  const answer = decide(settings.policy, question);
  if (settings.onDecision !== undefined) observe(settings, question, answer);
  return answer;
}

/** A policy that throws, or gives no answer, must not allow the call. */
function decide(policy: Policy | null, question: PolicyQuestion): PolicyAnswer {
  if (policy === null) return question.requiresApproval ? NO_POLICY_ASKS : NO_POLICY_RUNS;
  try {
    return parseAnswer(policy.decide(question));
  } catch (error) {
    return failed(error);
  }
}

/** Asks the policy about a name alone; undefined if the policy needs to know more. */
export function screenByPolicy(
  settings: Asked,
  { name, args }: ToolCall,
  tool: Tool | undefined,
): PolicyAnswer | undefined {
  if (settings.policy?.screen === undefined) return undefined;
  const named = { name: tool?.name ?? name, aliases: tool?.aliases ?? [] };
  const answer = screen(settings.policy, named);
  // The arguments are not checked yet, so the observer gets a copy, and only if they are an object.
  if (answer !== undefined && settings.onDecision !== undefined)
    observe(settings, { ...named, args: recordable(args) }, answer);
  return answer;
}

/** Whether the policy refuses every call of a tool, whatever its arguments. */
export function isRefusedByName(policy: Policy | null, { name, aliases }: Tool): boolean {
  return policy?.screen !== undefined && screen(policy, { name, aliases }) !== undefined;
}

function screen(
  policy: Policy,
  { name, aliases }: { readonly name: string; readonly aliases: readonly string[] },
): PolicyAnswer | undefined {
  try {
    const answer: unknown = policy.screen?.(name, aliases);
    if (answer === undefined) return undefined;
    const parsed = parseAnswer(answer);
    // Only a refusal can follow from a name alone. For any other answer, the arguments and the sandbox are
    // checked first.
    return parsed.disposition === 'pre_resolved' ? parsed : undefined;
  } catch (error) {
    return failed(error);
  }
}

/** Observers see every decision and cannot change it (C035). */
function observe({ onDecision, logger }: Asked, question: ObservedQuestion, answer: PolicyAnswer): void {
  const log = (error: unknown): void =>
    logger.warn({ error: reasonOf(error), tool: question.name }, 'an observer of decisions failed');
  try {
    const returned: unknown = onDecision?.(Object.freeze({ ...question }), Object.freeze({ ...answer }));
    if (returned instanceof Promise) returned.catch(log);
  } catch (error) {
    log(error);
  }
}

const NO_POLICY_ASKS: PolicyAnswer = {
  disposition: 'requires_confirmation',
  reason: 'the tool requires approval for every call',
};
const NO_POLICY_RUNS: PolicyAnswer = { disposition: 'execute_now', reason: 'no policy is set' };

function parseAnswer(answer: unknown): PolicyAnswer {
  ignoreRejection(answer);
  if (typeof answer !== 'object' || answer === null) return failed('it gave no disposition');
  const { disposition, code, reason, hint, insists, rule, seen, consent, writesThrough } = answer as {
    readonly [key: string]: unknown;
  };
  const by =
    rule === undefined && seen === undefined && consent === undefined
      ? undefined
      : evidenceOf(rule, seen, consent);
  switch (disposition) {
    case 'execute_now':
      return {
        disposition,
        reason: textOf(reason),
        ...by,
        ...(writesThrough === true ? { writesThrough } : undefined),
      };
    case 'requires_confirmation':
      return { disposition, reason: textOf(reason), insists: insists === true, ...by };
    case 'pre_resolved':
      return {
        disposition,
        code: isErrorCode(code) ? code : 'policy_denied',
        reason: textOf(reason),
        ...(typeof hint === 'string' ? { hint } : {}),
        ...by,
      };
    default:
      return failed('it gave no disposition');
  }
}

function evidenceOf(
  rule: unknown,
  seen: unknown,
  consent: unknown,
): Pick<PolicyAnswer, 'rule' | 'seen' | 'consent'> {
  return {
    ...(consent === undefined ? undefined : { consent: parseConsent(consent) }),
    ...(typeof rule === 'string' ? { rule } : undefined),
    ...(seen === undefined ? undefined : { seen: parseEffects(seen) }),
  };
}

/** @throws TypeError for a consent that cannot be read, which must not allow every change */
function parseConsent(consent: unknown): WriteConsent {
  const { patterns, named = [] } = consent as { readonly patterns?: unknown; readonly named?: unknown };
  if (patterns === undefined) return { named: parseEffects(named) };
  if (Array.isArray(patterns) && patterns.every((one) => typeof one === 'string'))
    return { patterns, named: parseEffects(named) };
  throw new TypeError('consent.patterns must be a list of path patterns');
}

function textOf(reason: unknown): string {
  return typeof reason === 'string' && reason !== '' ? reason : 'The policy gives no reason.';
}

function failed(why: unknown): PolicyAnswer {
  return {
    disposition: 'pre_resolved',
    code: 'policy_denied',
    reason: `The policy could not evaluate this call: ${reasonOf(why)}`,
  };
}
