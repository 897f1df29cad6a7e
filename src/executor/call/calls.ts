import type { Disposition } from '../../contract/approval.js';
import type { ToolCall } from '../../contract/call.js';
import type { CallEntry } from '../../contract/journal.js';
import type { PlacedEffect } from '../../effects/conflicts.js';
import { freezeArguments } from '../../schema/freeze-arguments.js';
import { type EvaluatedCall, shownEffects } from './evaluated-call.js';

/**
 * Copies calls that have to wait, so that the executor runs the calls as the caller passed them. A value that
 * is not a call is passed on, and planning refuses it.
 */
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

/**
 * Treats a call as a ToolCall before its arguments are checked. Planning checks them before any other code
 * reads them.
 */
export function unchecked(call: ToolCall<unknown>): ToolCall {
  return call as ToolCall;
}

/**
 * The part of a call's identity besides its id: empty for an id from the provider; for a made-up id, the mark
 * `madeUp` and the turn, if it is known. The parameters are unknown because callers may pass calls of any
 * shape.
 * @param turn the caller's `RunOptions.turn`, which takes precedence over the call's own turn
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

/** Turns a record back into the call that was asked for. */
export function recordedCall({
  callId: id,
  toolName: name,
  args,
  ...identity
}: Pick<CallEntry, 'callId' | 'toolName' | 'args' | 'madeUp' | 'turn'>): ToolCall {
  return { id, name, args, ...madeUpIn(identity) };
}

/**
 * Turns a planned call into its journal entry.
 *
 * @param isShared whether other processes may have calls in its conversation; they compare the places of its effects.
 */
export function toCallEntry(evaluated: EvaluatedCall, isShared: boolean): CallEntry {
  const { call, reason } = evaluated;
  const entry: CallEntry = {
    callId: call.id,
    toolName: call.name,
    args: call.args,
    // The effects that the policy saw in a command are part of the evaluation and the approval, so record
    // them too.
    effects: shownEffects(evaluated),
    disposition: dispositionOf(evaluated),
    reason,
  };
  const placed =
    isShared && evaluated.effects.some(hasPlace) ? { ...entry, places: placesOf(evaluated) } : entry;
  return call.madeUp === true ? { ...placed, ...madeUpIn(call) } : placed;
}

function placesOf({ effects }: EvaluatedCall): readonly (string | null)[] {
  return effects.map((placed) => (hasPlace(placed) ? (placed.at ?? null) : null));
}

function hasPlace({ effect, at }: PlacedEffect): boolean {
  return at !== undefined && 'path' in effect;
}

function dispositionOf(evaluated: EvaluatedCall): Disposition {
  if (evaluated.kind === 'resolved') return 'pre_resolved';
  return evaluated.needsApproval ? 'requires_confirmation' : 'execute_now';
}
