import type { JsonObject } from '../contract/json.js';
import { type HookDocument, titleOf } from './document.js';

/** The answer about a call. */
export interface Decision {
  /** `none`: the agent's own rules apply. */
  readonly kind: 'allow' | 'ask' | 'deny' | 'none';
  readonly reason: string;
  /** The complete new input. */
  readonly input?: JsonObject;
}

/** Writes a decision in the agent's protocol. Undefined: nothing is written. */
export function answerOf(document: HookDocument, decision: Decision): JsonObject | undefined {
  if (decision.kind === 'none') return undefined;
  if (document.event === 'permission') return permissionAnswer(document, decision);
  if (document.agent === 'gemini-cli') return geminiAnswer(decision);
  // Codex reports an `allow` that changes nothing as a failed hook.
  if (document.agent === 'codex' && decision.kind === 'allow' && decision.input === undefined)
    return undefined;
  return claudeAnswer(document, decision);
}

/**
 * Whether the agent asks the person if a hook says `ask`. Codex does not before a call: it reports a failed hook, and
 * runs the call. It asks by its own rules, and then sends PermissionRequest. Claude Code has modes in which some
 * versions run the call, and takes `ask` about a command of a skill for a refusal.
 */
export function canAsk({
  agent,
  event,
  mode = '',
  neverAsks,
}: Pick<HookDocument, 'agent' | 'event' | 'mode' | 'neverAsks'>): boolean {
  if (event === 'skill') return false;
  if (agent === 'codex' || neverAsks === true) return event === 'permission';
  return agent !== 'claude-code' || !UNATTENDED.has(mode);
}

const UNATTENDED: ReadonlySet<string> = new Set(['bypassPermissions', 'auto']);

/** Whether an answer may change the input of the call: Codex refuses a permission with another input. */
export function takesInput({ agent, event }: Pick<HookDocument, 'agent' | 'event'>): boolean {
  return agent !== 'codex' || event === 'before';
}

/** A decision that the agent obeys: where it cannot ask, the call is denied. */
export function obeyed(document: HookDocument, decision: Decision): Decision {
  if (decision.kind !== 'ask' || canAsk(document)) return decision;
  const why = decision.reason.replace(/\.?$/, '.');
  const cannot =
    document.agent === 'codex'
      ? 'cannot ask the person for a hook'
      : document.event === 'skill'
        ? 'does not ask the person about a command of a skill'
        : document.neverAsks === true
          ? 'does not ask the person for this hook (--no-ask)'
          : `may not ask the person in the mode ${document.mode}`;
  return {
    kind: 'deny',
    reason: `${why} ${titleOf(document)} ${cannot}, so the call is denied. Tell the person: a rule of toolexec can allow such calls.`,
  };
}

function claudeAnswer({ eventName }: HookDocument, { kind, reason, input }: Decision): JsonObject {
  return {
    hookSpecificOutput: {
      hookEventName: eventName,
      permissionDecision: kind,
      permissionDecisionReason: reason,
      ...(input === undefined ? {} : { updatedInput: input }),
    },
  };
}

function geminiAnswer({ kind, reason, input }: Decision): JsonObject {
  return {
    decision: kind,
    reason,
    // The person reads it with the question.
    ...(kind === 'ask' ? { systemMessage: reason } : {}),
    ...(input === undefined
      ? {}
      : { hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: input } }),
  };
}

/** The agent is about to ask the person anyway, so only decisions that need no person are answered. */
function permissionAnswer(
  { eventName }: HookDocument,
  { kind, reason, input }: Decision,
): JsonObject | undefined {
  if (kind === 'ask') return undefined;
  const changed = input === undefined ? {} : { updatedInput: input };
  const decision =
    kind === 'allow' ? { behavior: 'allow', ...changed } : { behavior: 'deny', message: reason };
  return { hookSpecificOutput: { hookEventName: eventName, decision } };
}
