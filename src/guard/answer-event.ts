import type { JsonObject } from '../contract/json.js';
import type { HookDocument } from './document.js';

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
  return document.agent === 'gemini-cli' ? geminiAnswer(decision) : claudeAnswer(document, decision);
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
    ...(input === undefined
      ? {}
      : { hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: input } }),
  };
}

/** The agent is about to ask the person anyway, so only decisions that need no person are answered. */
function permissionAnswer(
  { eventName, agent }: HookDocument,
  { kind, reason, input }: Decision,
): JsonObject | undefined {
  if (kind === 'ask') return undefined;
  // Codex refuses a permission that changes the input.
  const changed = input === undefined || agent === 'codex' ? {} : { updatedInput: input };
  const decision =
    kind === 'allow' ? { behavior: 'allow', ...changed } : { behavior: 'deny', message: reason };
  return { hookSpecificOutput: { hookEventName: eventName, decision } };
}
