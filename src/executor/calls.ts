import type { ToolCall } from '../contract/call.js';
import type { CallEntry } from '../contract/journal.js';
import { freezeArguments } from '../schema/freeze-arguments.js';

/** Copies of calls that wait, so that what runs is what was asked for. What is no call stays, for the engine to say so. */
export function copyCalls(calls: readonly ToolCall[]): readonly ToolCall[] {
  return calls.map(holdCall);
}

function holdCall(call: ToolCall): ToolCall {
  try {
    const { id, name, args, reason, madeUp, turn } = call;
    const settled = freezeArguments(args, { maxBytes: Number.POSITIVE_INFINITY });
    if (!settled.ok) return call;
    return {
      id,
      name,
      args: settled.value,
      ...(reason === undefined ? {} : { reason }),
      ...(madeUp === undefined ? {} : { madeUp }),
      ...(turn === undefined ? {} : { turn }),
    };
  } catch {
    return call;
  }
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
