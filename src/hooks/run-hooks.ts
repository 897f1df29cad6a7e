import { parseJson } from '../base/parse-json.js';
import type { JsonObject } from '../contract/json.js';
import { runLine } from '../platform/process/run-line.js';
import type { CommandHook, HookEvent, HookGroup } from './hook-options.js';
import { matches } from './hook-options.js';

/** What the hooks of one event have said together. */
export interface HookOutcome {
  readonly decision: 'none' | 'allow' | 'ask' | 'deny';
  /** Why, in the words of the hook. */
  readonly reason: string;
  /** Members that the arguments get; later hooks win. */
  readonly input?: JsonObject;
  /** For the model. */
  readonly context: readonly string[];
}

export interface HookCall {
  readonly event: HookEvent;
  readonly groups: readonly HookGroup[];
  /** All names of the tool. */
  readonly names: readonly string[];
  readonly document: JsonObject;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

const MILLISECONDS: ReadonlySet<HookEvent> = new Set(['BeforeTool', 'AfterTool']);
const DEFAULT_TIMEOUT_MS = 60_000;

/** Runs all that match at once. Never rejects: a hook that fails has decided `deny`, unless it says otherwise. */
export async function runHooks({ event, groups, names, document, cwd, env }: HookCall): Promise<HookOutcome> {
  const hooks = groups.filter((group) => matches(group, names)).flatMap((group) => group.hooks);
  const input = `${JSON.stringify({ ...document, hook_event_name: event, cwd })}\n`;
  const outcomes = await Promise.all(
    hooks.map(async (hook) => {
      const { timeout } = hook;
      const timeoutMs =
        timeout === undefined ? DEFAULT_TIMEOUT_MS : MILLISECONDS.has(event) ? timeout : timeout * 1000;
      return read(hook, await runLine(hook.command, { cwd, env, input, timeoutMs }));
    }),
  );
  return outcomes.reduce(together, NOTHING);
}

const NOTHING: HookOutcome = { decision: 'none', reason: '', context: [] };
const ORDER = ['none', 'allow', 'ask', 'deny'] as const;

function together(one: HookOutcome, other: HookOutcome): HookOutcome {
  const first = ORDER.indexOf(one.decision) >= ORDER.indexOf(other.decision) ? one : other;
  const input = one.input === undefined ? other.input : { ...one.input, ...other.input };
  return {
    decision: first.decision,
    reason: first.reason,
    context: [...one.context, ...other.context],
    ...(input === undefined ? {} : { input }),
  };
}

type LineEnd = Awaited<ReturnType<typeof runLine>>;

function read(hook: CommandHook, { code, stdout, stderr }: LineEnd): HookOutcome {
  if (code === 2) return { ...NOTHING, decision: 'deny', reason: stderr.trim() || 'a hook blocked it' };
  if (code !== 0)
    return failed(
      hook,
      code === null ? 'was ended: it took too long, or was killed' : `ended with exit code ${code}`,
    );
  if (stdout.trim() === '') return NOTHING;
  const said = parse(stdout);
  if (said === undefined) return failed(hook, 'printed no JSON object');
  const specific = isObject(said.hookSpecificOutput) ? said.hookSpecificOutput : {};
  const stopped = said.continue === false;
  const decision = stopped ? 'deny' : decisionOf(specific.permissionDecision ?? said.decision);
  if (decision === undefined)
    return failed(
      hook,
      `gave an unknown decision: ${JSON.stringify(specific.permissionDecision ?? said.decision)}`,
    );
  const input = [specific.updatedInput, specific.tool_input].find(isObject);
  const { additionalContext } = specific;
  return {
    decision,
    reason:
      [specific.permissionDecisionReason, said.reason, said.stopReason].find(
        (text) => typeof text === 'string',
      ) ?? 'a hook says so',
    context: typeof additionalContext === 'string' && additionalContext !== '' ? [additionalContext] : [],
    ...(input === undefined ? {} : { input }),
  };
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

function decisionOf(said: unknown): HookOutcome['decision'] | undefined {
  return DECISIONS.get(said);
}

/** A guard that fails must not open the gate. */
function failed({ command, on_failure: onFailure }: CommandHook, how: string): HookOutcome {
  if (onFailure === 'continue') return NOTHING;
  return { ...NOTHING, decision: 'deny', reason: `the hook ${JSON.stringify(command.slice(0, 80))} ${how}` };
}

function parse(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
