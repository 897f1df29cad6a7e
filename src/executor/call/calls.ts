import type { Disposition } from '../../contract/approval.js';
import type { ToolCall } from '../../contract/call.js';
import type { CallEntry } from '../../contract/journal.js';
import { freezeArguments } from '../../schema/freeze-arguments.js';
import { type EvaluatedCall, shownEffects } from './evaluated-call.js';

/** Copies of calls that wait, so that the executor runs what was asked for. A value that is no call stays: planning refuses it. */
export function copyCalls(calls: readonly ToolCall<unknown>[]): readonly ToolCall[] {
  return calls.map(copyCall);
}

function copyCall(call: ToolCall<unknown>): ToolCall {
  try {
    const { id, name, args, reason, madeUp, turn } = call;
    const frozen = freezeArguments(args, { maxBytes: Number.POSITIVE_INFINITY });
    if (!frozen.ok) return unchecked(call);
    return {
      id,
      name,
      args: frozen.value,
      ...(reason === undefined ? {} : { reason }),
      ...(madeUp === undefined ? {} : { madeUp }),
      ...(turn === undefined ? {} : { turn }),
    };
  } catch {
    return unchecked(call);
  }
}

/** Planning checks the arguments before anything else looks at them. */
export function unchecked(call: ToolCall<unknown>): ToolCall {
  return call as ToolCall;
}

/**
 * What makes a call's id a name: nothing more for an id of the provider's own; for a made-up one that it is made up, and
 * the turn, where it is known. Unknown values come in, because callers hand over calls of any making.
 * @param turn the caller's word (`RunOptions.turn`), which counts before the call's own.
 */
export function madeUpIn(
  { madeUp, turn: own }: { readonly madeUp?: unknown; readonly turn?: unknown },
  turn?: string,
): Pick<ToolCall, 'madeUp' | 'turn'> {
  if (madeUp !== true) return OWN_ID;
  const known = turn ?? own;
  return typeof known === 'string' && known !== '' ? { madeUp, turn: known } : { madeUp };
}

const OWN_ID = Object.freeze({});

/** A recorded call as it was asked for. */
export function recordedCall({
  callId: id,
  toolName: name,
  args,
  ...identity
}: Pick<CallEntry, 'callId' | 'toolName' | 'args' | 'madeUp' | 'turn'>): ToolCall {
  return { id, name, args, ...madeUpIn(identity) };
}

/** A planned call as it is recorded. */
export function toCallEntry(evaluated: EvaluatedCall): CallEntry {
  const { call, reason } = evaluated;
  const entry: CallEntry = {
    callId: call.id,
    toolName: call.name,
    args: call.args,
    // What the policy has seen a command touch is part of what was evaluated and approved.
    effects: shownEffects(evaluated),
    disposition: dispositionOf(evaluated),
    reason,
  };
  return call.madeUp === true ? { ...entry, ...madeUpIn(call) } : entry;
}

function dispositionOf(evaluated: EvaluatedCall): Disposition {
  if (evaluated.kind === 'resolved') return 'pre_resolved';
  return evaluated.needsApproval ? 'requires_confirmation' : 'execute_now';
}
