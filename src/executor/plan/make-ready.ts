import type { Effect, Risk } from '../../contract/effect.js';
import type { CallOrigins } from '../../contract/origin.js';
import type { Tool } from '../../contract/tool.js';
import { isRisk, riskOfEffects } from '../../effects/traits.js';
import { isErrorCode } from '../../errors/catalogue.js';
import { isToolError } from '../../errors/tool-error.js';
import { summarizeText } from '../../output/clean-output.js';
import { describeOrigins, isUntrusted } from '../../patterns/origin.js';
import { reasonOf } from '../answer/results.js';
import { type EvaluatedCall, ReadyCall, type ReadyParts } from '../call/evaluated-call.js';
import type { CommandSandboxVerdict, PlanSettings, StandingSandbox } from '../call/settings.js';
import type { Contained } from './ask-contained.js';
import { containmentOf, riskWithin } from './containment.js';
import { answerWith } from './evaluate-sandbox.js';
import { type Refusal, refuse } from './refuse.js';

/** A call that the policy does not refuse. */
export interface Permitted
  extends Pick<ReadyParts, 'call' | 'tool' | 'parsed' | 'declared' | 'effects' | 'origins'>,
    Contained {
  readonly requires: boolean;
  /** The call may start a background shell. */
  readonly startsShell: boolean;
  /**
   * The sandbox around the call's commands; undefined: the call runs no command or program in the command
   * sandbox.
   */
  readonly standing: StandingSandbox | undefined;
}

/**
 * Makes a call ready that the policy allows or wants to ask about. The sandbox's verdict may still refuse it.
 */
export function makeReady(
  permitted: Permitted,
  verdict: CommandSandboxVerdict,
  settings: PlanSettings,
): EvaluatedCall {
  const { call, tool, parsed, declared, effects, requires } = permitted;
  if (verdict.kind === 'refuse') {
    const { code, message, hint, details } = verdict.error;
    return refuse(call, { code, message, hint, details, effects }, settings);
  }
  const { disposition, reason: why, insists } = answerWith(verdict, permitted.answer);
  const { seen, consent } = permitted.answer;
  const isAsked = disposition === 'requires_confirmation';
  const asksBeyond = isAsked && mayAskBeyond(permitted, settings);
  const needsApproval = isAsked && !asksBeyond;
  const reason = asksBeyond ? ASKED_BEYOND : isAsked ? withOrigins(why, permitted.origins) : why;
  try {
    const containment = containmentOf(permitted, permitted.standing, settings);
    const risk = riskWithin(containment, riskOf(tool, parsed, declared), declared, settings);
    const toolRequiresApproval = requires || insists === true;
    // D044: a summary that throws refuses a call that needs a question; it does not stop any other call.
    const summary = needsApproval ? summaryOf(tool, parsed) : undefined;
    const asksLater = needsApproval && mayAskAfter(permitted, settings);
    // Listed member by member: a spread costs more than the rest of the plan.
    return new ReadyCall(
      {
        call,
        tool,
        parsed,
        declared,
        effects,
        seen,
        risk,
        containment,
        needsApproval,
        toolRequiresApproval,
        reason,
        consent,
        mayAskAfter: asksLater,
        asksBeyond,
        writesThrough: permitted.answer.writesThrough === true,
        needsTransaction: permitted.needsTransaction,
        origins: permitted.origins,
      },
      summary,
    );
  } catch (error) {
    return refuse(call, { ...refusalOf(error, tool, 'describe this call'), effects }, settings);
  }
}

/** Adds to the reason which arguments untrusted text may have influenced, so that the person knows. */
function withOrigins(why: string, origins: CallOrigins | undefined): string {
  if (origins === undefined || !origins.seen.some(isUntrusted)) return why;
  const outside = Object.entries(origins.args).filter(([, found]) => found.some(isUntrusted));
  if (outside.length === 0) return why;
  const said = describeOrigins(
    outside.map(([pointer]) => pointer),
    origins,
  );
  if (why.includes(said)) return why;
  return why.endsWith('.') ? `${why} ${said}.` : `${why}; ${said}`;
}

/**
 * Whether the question may come after the commands: no rule asks, and all of the call's effects stay in the
 * sandbox until the person agrees.
 */
function mayAskAfter({ tool, parsed, declared, answer }: Permitted, settings: PlanSettings): boolean {
  if (tool.approval === undefined) return false;
  const { approval } = tool;
  const said: unknown = typeof approval === 'function' ? approval(parsed) : approval;
  return (
    (said === 'after_online' || (said === 'after' && settings.mayKeepApart)) &&
    answer.rule === undefined &&
    declared.length > 0 &&
    declared.every(({ kind }) => kind === 'run')
  );
}

/**
 * Whether the call may run unasked in the profile `contained`: no rule asks, and all of its effects stay in
 * the sandbox until its changes have been checked.
 */
function mayAskBeyond({ tool, declared, answer, startsShell }: Permitted, settings: PlanSettings): boolean {
  return (
    settings.profile === 'contained' &&
    settings.keepsCommandsApart &&
    tool.contained === true &&
    !startsShell &&
    answer.rule === undefined &&
    declared.length > 0 &&
    declared.every(({ kind }) => kind === 'run')
  );
}

const ASKED_BEYOND =
  'It runs contained (profile "contained"): it is asked about when it has ended, if it changed files that run later or deleted something.';

function riskOf(tool: Tool, parsed: unknown, declared: readonly Effect[]): Risk {
  const own: unknown = typeof tool.risk === 'function' ? tool.risk(parsed) : tool.risk;
  if (own === undefined) return riskOfEffects(declared);
  if (isRisk(own)) return own;
  throw new TypeError('risk must be low, medium or high');
}

function summaryOf(tool: Tool, parsed: unknown): string | undefined {
  const text: unknown = tool.summarize?.(parsed);
  if (text === undefined) return undefined;
  if (typeof text === 'string') return summarizeText(text);
  throw new TypeError(`summarize must return a text, not a value of type ${typeof text}`);
}

/** A tool refuses a call by throwing a ToolError. Any other error is a fault of the tool. */
export function refusalOf(
  error: unknown,
  tool: Tool,
  what: string,
): Pick<Refusal, 'code' | 'message' | 'hint' | 'details'> {
  if (isToolError(error) && isErrorCode(error.code)) {
    const { code, message, hint, details } = error;
    return { code, message: String(message), hint: typeof hint === 'string' ? hint : undefined, details };
  }
  return { code: 'execution_failed', message: `${tool.name} cannot ${what}: ${reasonOf(error)}` };
}
