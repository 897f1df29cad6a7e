import type { ApprovalRequest } from '../contract/approval.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { EndedTurn } from '../contract/conversation.js';
import type { JsonObject } from '../contract/json.js';
import { systemClock } from '../platform/clock/clock.js';
import {
  argsOf,
  type HookedCall,
  type HookPlace,
  type HookRunner,
  linesOf,
  responseOf,
} from './hook-runner.js';

/** A hook's answer in place of the person's. */
export type PermissionAnswer =
  | { readonly kind: 'allow'; readonly args?: JsonObject }
  | { readonly kind: 'deny'; readonly reason: string };

export interface Notification {
  readonly type: 'permission_prompt' | 'elicitation_dialog';
  readonly message: string;
}

/**
 * The hooks that do more than review calls and results. A member exists only if such a hook is configured.
 * None rejects.
 */
export interface EventHooks {
  /** Undefined: the person is asked. */
  readonly permission?: (request: ApprovalRequest, place: HookPlace) => Promise<PermissionAnswer | undefined>;
  /** For a refused call. @returns lines for the model */
  readonly denied?: (call: HookedCall, reason: string, place: HookPlace) => Promise<readonly string[]>;
  /** Runs in parallel to the question. */
  readonly notify?: (notification: Notification, place: HookPlace) => void;
  /** For a batch whose calls have all ended. @returns lines for the model */
  readonly batch?: (calls: readonly EndedCall[], place: HookPlace) => Promise<readonly string[]>;
  /** The model has ended its turn. @returns the remaining task; undefined: there is none */
  readonly stop?: (turn: EndedTurn, place: HookPlace) => Promise<string | undefined>;
  /** Waits for running notifications, and kills those that take too long. */
  readonly close: () => Promise<void>;
}

export interface EndedCall {
  readonly call: ToolCall;
  readonly result: ToolResult;
}

export function eventHooks(runner: HookRunner): EventHooks {
  const notifying = new Set<Promise<unknown>>();
  const late = new AbortController();
  return {
    ...(runner.has('PermissionRequest')
      ? { permission: (request, place) => answerQuestion(request, place, runner) }
      : {}),
    ...(runner.has('PermissionDenied')
      ? { denied: (call, reason, place) => afterDenial(call, reason, place, runner) }
      : {}),
    ...(runner.has('Notification')
      ? {
          notify({ type, message }, place) {
            const fields = { message, notification_type: type };
            const run = runner.run('Notification', [type], fields, { ...place, signal: late.signal });
            notifying.add(run);
            void run.finally(() => notifying.delete(run));
          },
        }
      : {}),
    ...(runner.has('PostToolBatch') ? { batch: (calls, place) => afterBatch(calls, place, runner) } : {}),
    ...(runner.has('Stop', 'SubagentStop') ? { stop: (turn, place) => atStop(turn, place, runner) } : {}),
    async close() {
      const forget = systemClock.after(CLOSING_MS, () => late.abort());
      await Promise.all(notifying);
      forget();
    },
  };
}

/** The maximum wait for notifications when a program ends. */
const CLOSING_MS = 5_000;

async function answerQuestion(
  request: ApprovalRequest,
  place: HookPlace,
  runner: HookRunner,
): Promise<PermissionAnswer | undefined> {
  const more = { description: request.summary, permission_suggestions: [] };
  const agent = request.agent ?? place.agent;
  const outcome = await runner.aboutCall(['PermissionRequest'], request, { ...place, agent }, more);
  const { decision, reason, input } = outcome;
  if (decision === 'deny') return { kind: 'deny', reason };
  if (decision !== 'allow') return undefined;
  return input === undefined
    ? { kind: 'allow' }
    : { kind: 'allow', args: runner.merged(request.args, input) };
}

async function afterDenial(
  call: HookedCall,
  reason: string,
  place: HookPlace,
  runner: HookRunner,
): Promise<readonly string[]> {
  const { retries, context } = await runner.aboutCall(['PermissionDenied'], call, place, { reason });
  return [...(retries ? ['you may try this call once more'] : []), ...context];
}

async function afterBatch(
  calls: readonly EndedCall[],
  place: HookPlace,
  runner: HookRunner,
): Promise<readonly string[]> {
  const ended = calls.map(({ call, result }) => ({
    ...runner.toolFields({ toolName: call.name, args: argsOf(call) }),
    tool_use_id: call.id,
    ...responseOf(result),
  }));
  return linesOf(await runner.run('PostToolBatch', [], { tool_calls: ended }, place));
}

async function atStop(
  { text, isGoingOn }: EndedTurn,
  place: HookPlace,
  runner: HookRunner,
): Promise<string | undefined> {
  const fields = { stop_hook_active: isGoingOn, last_assistant_message: text };
  const { agent } = place;
  const { decision, reason, halts } =
    agent === undefined
      ? await runner.run('Stop', [], fields, place)
      : await runner.run('SubagentStop', [agent], { ...fields, agent_transcript_path: '' }, place);
  return decision === 'deny' && !halts ? reason : undefined;
}
