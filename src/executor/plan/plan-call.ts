import type { Awaitable, ToolCall } from '../../contract/call.js';
import type { Effect, EffectKind } from '../../contract/effect.js';
import type { JsonObject } from '../../contract/json.js';
import type { Tool } from '../../contract/tool.js';
import { parseEffects } from '../../effects/parse-effects.js';
import { isSideEffecting, runsCommand } from '../../effects/traits.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { ToolError } from '../../errors/tool-error.js';
import { freezeArguments } from '../../schema/freeze-arguments.js';
import { reasonOf } from '../answer/results.js';
import type { EvaluatedCall } from '../call/evaluated-call.js';
import { confinementOf } from '../call/program-confinement.js';
import type { PlanSettings, StandingSandbox } from '../call/settings.js';
import { compiledTool } from '../declare/compiled-tool.js';
import { unknownTool } from '../declare/registry.js';
import { askContained, type Contained, type OwnQuestion } from './ask-contained.js';
import { askPolicy, isRefusedByName, screenByPolicy } from './ask-policy.js';
import { evaluateSandbox, FINE, mayStartShell } from './evaluate-sandbox.js';
import { freezeParsed } from './freeze-parsed.js';
import { makeReady, type Permitted, refusalOf } from './make-ready.js';
import { modeAnswer } from './mode-answer.js';
import { placeEffects } from './place-effects.js';
import { type Refusal, refuse } from './refuse.js';

/** The place of a call in its batch. */
export interface BatchPosition {
  readonly index: number;
  /** Whether an earlier call of the batch has the same id. */
  readonly duplicate: boolean;
}

/**
 * Plans one call without changing anything, in the documented order: mode, policy disabled, duplicate id,
 * denylist, existence, limits, arguments, sandbox, policy, summary (D020, D041, D042). Returns a promise only
 * if a tool's own schema is asynchronous.
 */
export function planCall(
  call: ToolCall,
  at: BatchPosition,
  settings: PlanSettings,
): Awaitable<EvaluatedCall> {
  const byMode = modeAnswer(call, settings);
  if (byMode !== undefined) return byMode;
  const tool = settings.registry.find(call.name);
  const screened = screen(call, at, tool, settings);
  if (screened !== undefined) return refuse(call, screened, settings);
  if (tool === undefined) return refuse(call, unknownIn(settings, call), settings);
  const max = settings.limits.maxToolCallsPerBatch;
  if (at.index >= max) return refuse(call, tooMany(at, max), settings);
  const frozen = freezeArguments(call.args, {
    maxBytes: maxArgsBytes(tool, settings),
  });
  if (!frozen.ok) {
    const { code } = frozen;
    const details = code === 'limit_exceeded' ? { reason: 'LimitsExceeded' } : undefined;
    return refuse(call, { code, message: argumentMessage(tool, frozen, settings), details }, settings);
  }
  const known = withArguments(call, frozen.value);
  const failed = (error: unknown): EvaluatedCall => cannotCheck(known, tool, error, settings);
  try {
    const checking = compiledTool(tool).input.check(frozen.value);
    const planning = whenKnown(checking, (checked) => planChecked(known, tool, checked, settings));
    return planning instanceof Promise ? planning.catch(failed) : planning;
  } catch (error) {
    return failed(error);
  }
}

// No spread unless needed: freezing such a copy takes as long as all the work around it.
function withArguments(call: ToolCall, args: JsonObject): ToolCall {
  const { id, name, reason, madeUp } = call;
  const isPlain = reason === undefined && madeUp === undefined;
  return Object.freeze(isPlain ? { id, name, args } : { ...call, args });
}

function cannotCheck(call: ToolCall, tool: Tool, error: unknown, settings: PlanSettings): EvaluatedCall {
  const message = `Cannot check the arguments for ${tool.name}: ${reasonOf(error)}`;
  return refuse(call, { code: 'bad_args', message }, settings);
}

function screen(
  call: ToolCall,
  at: BatchPosition,
  tool: Tool | undefined,
  settings: PlanSettings,
): Refusal | undefined {
  const answer = screenByPolicy(settings, call, tool);
  if (at.duplicate && answer?.code !== 'policy_disabled') {
    return {
      code: 'duplicate_tool_call_id',
      message: `Duplicate tool call id "${call.id}": an earlier call of this batch has it. Give every call its own id.`,
      details: { id: call.id },
    };
  }
  if (answer === undefined) return undefined;
  const { code = 'policy_denied', reason, hint } = answer;
  return { code, message: reason, hint, details: denialDetails(code, call) };
}

/** The seed's names for the reasons of denials (D095). */
function denialDetails(code: ErrorCode, { name }: ToolCall): JsonObject | undefined {
  if (code === 'denylisted') return { reason: 'Denylisted', tool: name };
  return code === 'policy_disabled' ? { reason: 'Disabled' } : undefined;
}

/** The error for an unknown tool. It does not suggest tools that the policy always refuses. */
function unknownIn({ registry, policy }: PlanSettings, call: ToolCall): Refusal {
  const reason = registry.whyMissing?.(call.name);
  if (reason !== undefined) {
    const { code, message, details } = reason;
    return { code, message, details };
  }
  const offered = registry.list().filter((tool) => !isRefusedByName(policy, tool));
  const { message, details } = unknownTool(call.name, offered);
  return { code: 'unknown_tool', message, details };
}

function tooMany({ index }: BatchPosition, max: number): Refusal {
  return {
    code: 'limit_exceeded',
    message: `Too many tool calls: this is call ${index + 1} of a batch that may have ${max}. Send fewer calls at a time.`,
    hint: 'The limit is limits.maxToolCallsPerBatch.',
    details: { reason: 'LimitsExceeded', limit: 'maxToolCallsPerBatch', max },
  };
}

type NotFrozen = Extract<ReturnType<typeof freezeArguments>, { ok: false }>;

function argumentMessage(tool: Tool, frozen: NotFrozen, settings: PlanSettings): string {
  if (frozen.code === 'bad_args')
    return frozen.message.replace(/^Invalid arguments/, `Invalid arguments for ${tool.name}`);
  const max = maxArgsBytes(tool, settings);
  if (!frozen.message.includes(`${max} bytes`))
    return frozen.message.replace('the arguments', `the arguments for ${tool.name}`);
  return `The arguments for ${tool.name} are too large: at most ${max} bytes of JSON are accepted. Send less at a time.`;
}

function maxArgsBytes({ maxArgsBytes: own }: Tool, { limits }: PlanSettings): number {
  return (typeof own === 'function' ? own(limits) : own) ?? limits.maxToolArgsBytes;
}

type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

function planChecked(
  call: ToolCall,
  tool: Tool,
  checked: Checked,
  settings: PlanSettings,
): Awaitable<EvaluatedCall> {
  if (!checked.ok) {
    const message = explained(tool, call.args) ?? checked.message;
    return refuse(call, { code: 'bad_args', message }, settings);
  }
  const parsed = checked.value === call.args ? call.args : freezeParsed(checked.value);
  const said = askTool(tool, parsed, settings);
  if ('error' in said) return refuse(call, refusalOf(said.error, tool, 'say what it would touch'), settings);
  const loading = runsCommand(said.declared) ? settings.loadAnalysis() : undefined;
  return whenKnown(loading, () => planDeclared(call, said, settings));
}

/**
 * The tool's own explanation of wrong arguments. Undefined: the tool has none, so the schema's message is
 * used.
 */
function explained(tool: Tool, args: JsonObject): string | undefined {
  try {
    const words: unknown = tool.explainArgs?.(args);
    return typeof words === 'string' && words !== '' ? words : undefined;
  } catch {
    return undefined;
  }
}

function planDeclared(
  call: ToolCall,
  { tool, parsed, declared, requires, startsShell }: Declared,
  settings: PlanSettings,
): Awaitable<EvaluatedCall> {
  const { effects, violation } = placeEffects(declared, settings);
  const question: OwnQuestion = {
    name: tool.name,
    aliases: tool.aliases,
    category: tool.category,
    idempotent: tool.idempotent === true,
    sideEffecting: isSideEffecting(declared),
    requiresApproval: requires,
    sandboxViolation: violation !== undefined,
    effects: declared,
    places: effects,
    roots: settings.sandbox.roots,
    locate: settings.locator.locate,
    refusal: settings.locator.refusal,
    expand: settings.locator.expand,
    laterNames: settings.locator.laterNames,
    args: call.args,
  };
  const { agent, origins } = settings;
  if (origins !== undefined) question.origins = origins.of(call.args);
  if (agent !== undefined) question.agent = agent;
  if (parsed !== call.args) question.parsedArgs = parsed;
  const placed: Placed = {
    call,
    tool,
    parsed,
    declared,
    effects,
    violation,
    requires,
    startsShell,
    origins: question.origins,
  };
  const runsCommands = runsCommand(declared);
  const { commandGuard } = settings;
  const isInside = runsCommands || confinementOf(tool, settings) !== undefined;
  return whenKnown(
    isInside ? (commandGuard.standing() ?? commandGuard.lookAround()) : undefined,
    (standing) => {
      const isContained = runsCommands && standing !== undefined;
      const contained = isContained
        ? askContained(settings, question, standing, startsShell)
        : { needsTransaction: false, answer: askPolicy(settings, question) };
      return planAnswered(placed, contained, settings, standing);
    },
  );
}

/** A call whose declared effects and their places are known. */
interface Placed extends Pick<Permitted, 'call' | 'tool' | 'parsed' | 'declared' | 'effects' | 'origins'> {
  readonly violation: ToolError | undefined;
  readonly requires: boolean;
  readonly startsShell: boolean;
}

/** @param standing undefined: the call runs neither a command nor a program in the command sandbox */
function planAnswered(
  placed: Placed,
  contained: Contained,
  settings: PlanSettings,
  standing: StandingSandbox | undefined,
): Awaitable<EvaluatedCall> {
  const { call, effects, violation, startsShell, origins } = placed;
  const { answer } = contained;
  const { code = 'policy_denied', reason, hint } = answer;
  const refused = answer.disposition === 'pre_resolved';
  if (violation !== undefined && !(refused && BEFORE_SANDBOX.has(code))) {
    const { message, hint: remedy, details } = violation;
    return refuse(call, { code: violation.code, message, hint: remedy, details, effects, origins }, settings);
  }
  if (refused) return refuse(call, { code, message: reason, hint, effects, origins }, settings);
  const { tool, parsed, declared, requires } = placed;
  const { needsTransaction } = contained;
  // Listed member by member: a copy by spread takes longer than planning the call.
  const permitted: Permitted = {
    call,
    tool,
    parsed,
    declared,
    effects,
    origins,
    requires,
    startsShell,
    needsTransaction,
    answer,
    standing,
  };
  const verdict = standing === undefined ? FINE : evaluateSandbox(settings.commandGuard, answer, startsShell);
  return whenKnown(verdict, (found) => makeReady(permitted, found, settings));
}

/**
 * Continues at once if the value is already there. Only an asynchronous schema and the first command have to
 * be waited for.
 */
function whenKnown<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Codes of a refusal that takes precedence over a refusal of the sandbox (D041). */
const BEFORE_SANDBOX: ReadonlySet<ErrorCode> = new Set(['policy_disabled', 'denylisted']);

interface Declared {
  readonly tool: Tool;
  readonly parsed: unknown;
  readonly declared: readonly Effect[];
  readonly requires: boolean;
  readonly startsShell: boolean;
}

type Said = Declared | { readonly error: unknown };

function askTool(tool: Tool, parsed: unknown, { sandbox, limits }: PlanSettings): Said {
  try {
    const declared =
      tool.effects === undefined ? UNKNOWN : parseEffects(tool.effects(parsed, { cwd: sandbox.cwd, limits }));
    if (tool.touches !== undefined) requireTouched(tool.name, declared, tool.touches);
    const { requiresApproval = false } = tool;
    const requires: unknown =
      typeof requiresApproval === 'function' ? requiresApproval(parsed) : requiresApproval;
    const startsShell = mayStartShell(tool, parsed);
    if (typeof requires === 'boolean') return { tool, parsed, declared, requires, startsShell };
    return {
      error: new TypeError(`requiresApproval must answer true or false, not ${typeof requires}`),
    };
  } catch (error) {
    return { error };
  }
}

/**
 * Refuses a call whose effects exceed the kinds that its tool says it touches: none of the tool's
 * declarations can then be trusted.
 */
function requireTouched(name: string, declared: readonly Effect[], touches: readonly EffectKind[]): void {
  const stray = declared.find(({ kind }) => !touches.includes(kind));
  if (stray === undefined) return;
  const said = touches.length === 0 ? 'nothing' : `only ${touches.join(', ')}`;
  throw new ToolError(
    'tool_panicked',
    `Tool panicked: ${name} says that it touches ${said}, and gives an effect of the kind "${stray.kind}".`,
    { details: { kind: stray.kind, touches: [...touches] } },
  );
}

const UNKNOWN: readonly Effect[] = Object.freeze([Object.freeze({ kind: 'unknown' })]);
