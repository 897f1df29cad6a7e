import { resolve } from 'node:path';
import { onFirstUse } from '../base/on-first-use.js';
import type { Reviewer, ReviewVerdict } from '../contract/approval.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { Middleware } from '../contract/context.js';
import type { JsonObject } from '../contract/json.js';
import type { HookEvent, HookGroup, HookOptions } from './hook-options.js';
import type { HookOutcome } from './run-hooks.js';

export interface HooksWorld {
  readonly cwd: string;
  /** Told to hooks as the session where a call names no conversation. */
  readonly session: string;
  readonly environment: () => Readonly<Record<string, string>>;
  /** All names of a tool, its own first. */
  readonly namesOf: (name: string) => readonly string[];
}

/** Hooks as an executor takes them. */
export interface ToolHooks {
  readonly reviewers: readonly Reviewer[];
  readonly middleware: readonly Middleware[];
}

const BEFORE: readonly HookEvent[] = ['PreToolUse', 'BeforeTool'];
const AFTER: readonly HookEvent[] = ['PostToolUse', 'AfterTool'];

const runHooks = onFirstUse(async () => (await import('./run-hooks.js')).runHooks);

/** What stands between plan and approval, and behind each call. Nothing where no hook is given. */
export function toolHooks(options: HookOptions, world: HooksWorld): ToolHooks {
  const has = (events: readonly HookEvent[]): boolean =>
    events.some((event) => (options[event] ?? []).length > 0);
  return {
    reviewers: has(BEFORE) ? reviewersFor(options, world) : [],
    middleware: has([...AFTER, 'PostToolUseFailure']) ? [middlewareFor(options, world)] : [],
  };
}

interface About {
  readonly name: string;
  readonly callId: string;
  readonly args: JsonObject;
  readonly session: string;
}

async function ask(
  events: readonly HookEvent[],
  options: HookOptions,
  { name, callId, args, session }: About,
  world: HooksWorld,
  more: JsonObject = {},
): Promise<HookOutcome> {
  const names = world.namesOf(name);
  const document: JsonObject = {
    session_id: session,
    transcript_path: '',
    permission_mode: 'default',
    // As those agents call it, which is what their hooks look for.
    tool_name: names.find((one) => /^[A-Z]/.test(one)) ?? name,
    tool_input: withFile(args, world.cwd),
    tool_use_id: callId,
    ...more,
  };
  const { cwd } = world;
  const env = { ...world.environment(), CLAUDE_PROJECT_DIR: cwd, GEMINI_PROJECT_DIR: cwd };
  let outcome: HookOutcome = { decision: 'none', reason: '', context: [] };
  for (const event of events) {
    const groups: readonly HookGroup[] = options[event] ?? [];
    if (groups.length === 0) continue;
    const next = await runHooks({ event, groups, names, document, cwd, env });
    const input = outcome.input === undefined ? next.input : { ...outcome.input, ...next.input };
    const isStricter = STRICT.indexOf(next.decision) > STRICT.indexOf(outcome.decision);
    outcome = {
      ...(isStricter ? next : outcome),
      context: [...outcome.context, ...next.context],
      ...(input === undefined ? {} : { input }),
    };
  }
  return outcome;
}

const STRICT = ['none', 'allow', 'ask', 'deny'];

/** Tools about a file name it absolutely too, as those agents do. */
function withFile(args: JsonObject, cwd: string): JsonObject {
  const { path, file_path: file } = args;
  return typeof path === 'string' && file === undefined ? { ...args, file_path: resolve(cwd, path) } : args;
}

/** Two, because a reviewer gives one verdict: the first refuses or changes, the second asks or allows. */
function reviewersFor(options: HookOptions, world: HooksWorld): readonly Reviewer[] {
  const said = new Map<string, HookOutcome>();
  return [
    async ({ callId, toolName: name, args }) => {
      const outcome = await ask(BEFORE, options, { name, callId, args, session: world.session }, world);
      if (outcome.decision === 'deny') return { kind: 'deny', reason: outcome.reason };
      said.set(callId, outcome);
      return outcome.input === undefined ? PASS : { kind: 'change', args: merged(args, outcome.input) };
    },
    ({ callId }) => {
      const { decision = 'none', reason = '' } = said.get(callId) ?? {};
      said.delete(callId);
      return decision === 'ask' || decision === 'allow' ? { kind: decision, reason } : PASS;
    },
  ];
}

const PASS: ReviewVerdict = { kind: 'pass' };

/** `file_path` was ours to add. */
function merged(args: JsonObject, { file_path: file, ...input }: JsonObject): JsonObject {
  const isOurs = args.file_path === undefined && args.path !== undefined;
  return { ...args, ...input, ...(file === undefined || isOurs ? {} : { file_path: file }) };
}

function middlewareFor(options: HookOptions, world: HooksWorld): Middleware {
  return async (call: ToolCall, { conversation }, next) => {
    const result = await next();
    const events: readonly HookEvent[] = result.success ? AFTER : ['PostToolUseFailure', 'AfterTool'];
    const response: JsonObject = { success: result.success, output: result.output };
    const error: JsonObject = result.error === undefined ? {} : { error: result.error.message };
    const about = { name: call.name, callId: call.id, args: argsOf(call), session: conversation };
    const outcome = await ask(events, options, about, world, { tool_response: response, ...error });
    const lines = [...(outcome.decision === 'deny' ? [outcome.reason] : []), ...outcome.context];
    return lines.length === 0 ? result : withLines(result, lines);
  };
}

function argsOf({ args }: ToolCall): JsonObject {
  return typeof args === 'object' && args !== null ? (args as JsonObject) : {};
}

/** The call has run: what a hook says of it is for the model. */
function withLines(result: ToolResult, lines: readonly string[]): ToolResult {
  const text = lines.map((line) => `[hook] ${line}`).join('\n');
  return { ...result, output: result.output === '' ? text : `${result.output}\n${text}` };
}
