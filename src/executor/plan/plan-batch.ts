import type { ToolCall } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import { madeUpIn } from '../call/calls.js';
import { type EvaluatedCall, NO_ARGS, type ReadyCall } from '../call/evaluated-call.js';
import type { PlanSettings } from '../call/settings.js';
import { planCall } from './plan-call.js';
import { refuse } from './refuse.js';

/**
 * Plans every call of a batch, in order. Returns a promise only if a tool's schema is asynchronous.
 * @param turn the turn of made-up ids; left out: each call's own turn.
 */
export function planBatch(
  calls: readonly ToolCall[],
  settings: PlanSettings,
  turn?: string,
): EvaluatedCall[] | Promise<EvaluatedCall[]> {
  const seen = calls.length > 1 ? new Set<string>() : undefined;
  let asynchronous = false;
  const evaluated = new Array<EvaluatedCall | Promise<EvaluatedCall>>(calls.length);
  // By index, because a hole in the array is a malformed call too.
  for (let index = 0; index < calls.length; index++) {
    const { call, malformed } = readCall(calls[index], index, turn);
    const duplicate = seen?.has(call.id) ?? false;
    seen?.add(call.id);
    const one = malformed
      ? refuse(call, { code: 'bad_args', message: MALFORMED }, settings)
      : planCall(call, { index, duplicate }, settings);
    asynchronous ||= one instanceof Promise;
    evaluated[index] = one;
  }
  return asynchronous ? Promise.all(evaluated) : (evaluated as EvaluatedCall[]);
}

/** Plans a call again, with arguments that the person changed, or against the current files. */
export type Replan = (ready: ReadyCall, args: ReadyCall['call']['args']) => Promise<EvaluatedCall>;

/**
 * Plans one call again from the start. The limit for the batch and duplicate ids are not checked a second
 * time.
 */
export function replanner(settings: PlanSettings): Replan {
  return async (ready, args) => planCall({ ...ready.call, args }, { index: 0, duplicate: false }, settings);
}

const MALFORMED = 'Malformed tool call: { id: string, name: string, args: object } is expected.';

interface ReadCall {
  readonly call: ToolCall;
  readonly malformed: boolean;
}

/** Copies a call and reads each property once, so that later changes by the caller have no effect. */
function readCall(given: unknown, index: number, turn: string | undefined): ReadCall {
  const properties = propertiesOf(given);
  const { id, name, args, reason } = properties;
  const isNamed = typeof id === 'string' && id !== '';
  if (isNamed && typeof name === 'string') {
    // Not checked yet: planning first checks that the arguments are an object.
    const own = { id, name, args: args as JsonObject };
    // Most ids come from the provider, so most calls need no spread.
    const call = properties.madeUp === true ? { ...own, ...madeUpIn(properties, turn) } : own;
    return { call: typeof reason === 'string' ? { ...call, reason } : call, malformed: false };
  }
  const known = {
    id: isNamed ? id : `call_${index}`,
    name: typeof name === 'string' ? name : 'unknown',
    args: NO_ARGS,
    ...madeUpIn(isNamed ? properties : { ...properties, madeUp: true }, turn),
  };
  return { call: known, malformed: true };
}

function propertiesOf(given: unknown): {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly args?: unknown;
  readonly reason?: unknown;
  readonly madeUp?: unknown;
  readonly turn?: unknown;
} {
  if (typeof given !== 'object' || given === null) return {};
  try {
    const { id, name, args, reason, madeUp, turn } = given as Record<string, unknown>;
    return { id, name, args, reason, madeUp, turn };
  } catch {
    // A getter or a proxy threw.
    return {};
  }
}
