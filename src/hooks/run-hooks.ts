import { isDeepStrictEqual } from 'node:util';
import { parseJson } from '../base/parse-json.js';
import type { JsonObject } from '../contract/json.js';
import { runLine } from '../platform/process/run-line.js';
import { type CommandHook, EVENT_TRAITS, type HookEvent, type HookGroup, matches } from './hook-options.js';
import { type HookOutcome, NOTHING, together } from './hook-outcome.js';

export interface HookCall {
  readonly event: HookEvent;
  readonly groups: readonly HookGroup[];
  /** The names that are compared with matchers; for a tool, all its names. */
  readonly names: readonly string[];
  readonly document: JsonObject;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Reports a failure that has no effect. */
  readonly onFailure: (problem: string) => void;
}

const MILLISECONDS: ReadonlySet<HookEvent> = new Set(['BeforeTool', 'AfterTool']);
const DEFAULT_TIMEOUT_MS = 60_000;

/** Runs all matching hooks at once. Never rejects: the event determines the effect of a failing hook. */
export async function runHooks(call: HookCall): Promise<HookOutcome> {
  const { event, groups, names, document, cwd, env, signal } = call;
  const hooks = groups.filter((group) => matches(group, names)).flatMap((group) => group.hooks);
  if (hooks.length === 0) return NOTHING;
  const input = `${JSON.stringify({ ...document, hook_event_name: event, cwd })}\n`;
  const variables = { ...env, ...variablesFor(event, document) };
  const outcomes = await Promise.all(
    hooks.map(async (hook) => {
      const { timeout } = hook;
      const timeoutMs =
        timeout === undefined ? DEFAULT_TIMEOUT_MS : MILLISECONDS.has(event) ? timeout : timeout * 1000;
      const run = runLine(hook.command, { cwd, env: variables, input, timeoutMs, signal });
      return read(hook, await run, call);
    }),
  );
  return outcomes.reduce(together, NOTHING);
}

type LineEnd = Awaited<ReturnType<typeof runLine>>;

function read(hook: CommandHook, { code, stdout, stderr }: LineEnd, call: HookCall): HookOutcome {
  if (code === 2) return { ...NOTHING, decision: 'deny', reason: stderr.trim() || reasonIn(parse(stdout)) };
  if (code !== 0) {
    const how = 'was ended: it took too long, printed too much, or was killed';
    return failed(hook, code === null ? how : `ended with exit code ${code}`, call);
  }
  if (stdout.trim() === '') return NOTHING;
  const said = parse(stdout);
  if (said === undefined)
    return failed(hook, `printed no JSON object, but ${JSON.stringify(stdout.trim().slice(0, 80))}`, call);
  const specific = said.hookSpecificOutput ?? {};
  if (!isObject(specific)) return failed(hook, 'gave a hookSpecificOutput that is not an object', call);
  // The answer to PermissionRequest.
  const permission = isObject(specific.decision) ? specific.decision : {};
  const inputs = [permission.updatedInput, specific.updatedInput, specific.tool_input];
  if (inputs.some((one) => one !== undefined && one !== null && !isObject(one)))
    return failed(hook, 'gave an updatedInput that is not an object', call);
  // Agents expect the decision in different places, and a guard that has mixed them up must not let calls through.
  const given =
    permission.behavior ??
    (isObject(specific.decision) ? undefined : specific.decision) ??
    specific.permissionDecision ??
    said.permissionDecision ??
    said.decision ??
    undefined;
  const halts = said.continue === false;
  const decision = halts ? 'deny' : DECISIONS.get(given);
  if (decision === undefined) return failed(hook, `gave an unknown decision: ${JSON.stringify(given)}`, call);
  const input = changesIn(inputs.find(isObject), call.document);
  const { additionalContext } = specific;
  return {
    decision,
    reason: reasonIn(said),
    context: isText(additionalContext) ? [additionalContext] : [],
    halts,
    retries: specific.retry === true,
    ...(input === undefined ? {} : { input }),
  };
}

/** A hook may repeat the whole input. A repeated value must not undo the change of another hook. */
function changesIn(input: JsonObject | undefined, { tool_input: given }: JsonObject): JsonObject | undefined {
  if (input === undefined || !isObject(given)) return input;
  const changed = Object.entries(input).filter(([name, value]) => !isDeepStrictEqual(value, given[name]));
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

const DECISIONS: ReadonlyMap<unknown, HookOutcome['decision']> = new Map([
  [undefined, 'none'],
  ['allow', 'allow'],
  ['approve', 'allow'],
  ['ask', 'ask'],
  ['defer', 'ask'],
  ['deny', 'deny'],
  ['block', 'deny'],
]);

/** A failing guard must not let calls through. */
function failed(
  { command, on_failure: onFailure }: CommandHook,
  how: string,
  { event, onFailure: report }: HookCall,
): HookOutcome {
  const reason = `the hook ${JSON.stringify(command.slice(0, 80))} ${how}`;
  if (onFailure !== 'continue' && EVENT_TRAITS[event].onFailure !== 'log')
    return { ...NOTHING, decision: 'deny', reason };
  report(reason);
  return NOTHING;
}

/** The variables that hooks of hex read, as far as the document has their values. */
function variablesFor(event: HookEvent, document: JsonObject): Readonly<Record<string, string>> {
  const { tool_name: tool, tool_input: input, tool_response: response, agent_type: agent } = document;
  const file = isObject(input) ? input.file_path : undefined;
  const success = isObject(response) ? response.success : undefined;
  const said = document.last_assistant_message;
  const all: Readonly<Record<string, unknown>> = {
    CLAUDE_HOOK_EVENT: event,
    CLAUDE_TOOL_NAME: tool,
    CLAUDE_TOOL_FILE_PATH: file,
    CLAUDE_TOOL_SUCCESS: success,
    CLAUDE_ERROR: document.error,
    CLAUDE_IS_SUBAGENT: agent !== undefined,
    CLAUDE_SUBAGENT_TYPE: agent,
    CLAUDE_DESCRIPTION: document.description,
    CLAUDE_NOTIFICATION_MESSAGE: document.message,
    CLAUDE_NOTIFICATION_SOURCE: document.notification_type,
    CLAUDE_RESPONSE_LENGTH: typeof said === 'string' ? said.length : undefined,
  };
  const known = Object.entries(all).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known.map(([name, value]) => [name, toVariable(String(value))]));
}

/** A longer value, or one with a zero byte, would keep a program from starting. */
function toVariable(text: string): string {
  return text.replaceAll('\0', '').slice(0, 4096);
}

/** In any of the places where agents expect it. */
function reasonIn(said: JsonObject = {}): string {
  const specific = isObject(said.hookSpecificOutput) ? said.hookSpecificOutput : {};
  const permission = isObject(specific.decision) ? specific.decision : {};
  const given = [permission.message, specific.permissionDecisionReason, said.reason, said.stopReason];
  return given.find(isText) ?? 'a hook says so';
}

function parse(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text.replace(/^\uFEFF/, ''));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
