import type { Reviewer, ReviewVerdict } from '../contract/approval.js';
import type { ToolCall } from '../contract/call.js';
import type { Middleware } from '../contract/context.js';
import { type EventHooks, eventHooks } from './event-hooks.js';
import type { HookEvent, HookOptions } from './hook-options.js';
import type { HookOutcome } from './hook-outcome.js';
import { argsOf, HookRunner, type HooksWorld, linesOf, responseOf, withLines } from './hook-runner.js';

/** Hooks in the form that an executor takes. */
export interface ToolHooks {
  readonly reviewers: readonly Reviewer[];
  readonly middleware: readonly Middleware[];
  readonly events: EventHooks;
}

const BEFORE: readonly HookEvent[] = ['PreToolUse', 'BeforeTool'];
const AFTER: readonly HookEvent[] = ['PostToolUse', 'AfterTool'];

/** The hooks between plan and approval, and after each call. Empty if no hook is configured. */
export function toolHooks(options: HookOptions, world: HooksWorld): ToolHooks {
  const runner = new HookRunner(options, world);
  return {
    reviewers: runner.has(...BEFORE) ? reviewersFor(runner) : [],
    middleware: runner.has(...AFTER, 'PostToolUseFailure') ? [middlewareFor(runner)] : [],
    events: eventHooks(runner),
  };
}

/** Two, because a reviewer gives one verdict: the first refuses or changes, the second asks or allows. */
function reviewersFor(runner: HookRunner): readonly Reviewer[] {
  const said = new Map<string, HookOutcome>();
  const keyOf = (conversation: string, callId: string): string => JSON.stringify([conversation, callId]);
  return [
    async (request, { signal, conversation }) => {
      const { callId, args, agent } = request;
      const outcome = await runner.aboutCall(BEFORE, request, { conversation, agent, signal });
      if (outcome.decision === 'deny') return { kind: 'deny', reason: outcome.reason };
      said.set(keyOf(conversation, callId), outcome);
      return outcome.input === undefined
        ? PASS
        : { kind: 'change', args: runner.merged(args, outcome.input) };
    },
    ({ callId }, { conversation }) => {
      const key = keyOf(conversation, callId);
      const { decision = 'none', reason = '' } = said.get(key) ?? {};
      said.delete(key);
      return decision === 'ask' || decision === 'allow' ? { kind: decision, reason } : PASS;
    },
  ];
}

const PASS: ReviewVerdict = { kind: 'pass' };

function middlewareFor(runner: HookRunner): Middleware {
  return async (call: ToolCall, { conversation, signal }, next) => {
    const result = await next();
    const events: readonly HookEvent[] = result.success ? AFTER : ['PostToolUseFailure', 'AfterTool'];
    if (!runner.has(...events)) return result;
    const about = { toolName: call.name, callId: call.id, args: argsOf(call) };
    const outcome = await runner.aboutCall(events, about, { conversation, signal }, responseOf(result));
    return withLines(result, linesOf(outcome));
  };
}
