import type { ToolCall } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import type { CallOrigins } from '../../contract/origin.js';
import type { PlacedEffect } from '../../effects/conflicts.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { freezeArguments } from '../../schema/freeze-arguments.js';
import { cleanRefusal, reasonFor } from '../answer/refuse-ready.js';
import { notRun } from '../answer/results.js';
import { NO_ARGS, type ResolvedCall } from '../call/evaluated-call.js';
import type { PlanSettings } from '../call/settings.js';

export interface Refusal {
  readonly code: ErrorCode;
  /** May contain text from a model, a tool or a policy; it is cleaned here. */
  readonly message: string;
  /** For the developer or the person; it is cleaned here too. */
  readonly hint?: string | undefined;
  readonly details?: unknown;
  readonly effects?: readonly PlacedEffect[];
  readonly origins?: CallOrigins | undefined;
}

/** Answers a call that will not run. */
export function refuse(call: ToolCall, refusal: Refusal, settings: PlanSettings): ResolvedCall {
  const { code, message, hint, details, effects = [], origins } = refusal;
  const told = details === undefined ? undefined : recordable(details);
  const result = cleanRefusal(notRun(call, code, message, told, undefined, hint), settings);
  return {
    kind: 'resolved',
    call: { ...call, args: recordable(call.args) },
    result,
    reason: reasonFor(result.error),
    effects,
    origins,
  };
}

/** Only plain data can be recorded. Arguments or details that are not plain data are left out. */
export function recordable(value: unknown): JsonObject {
  const frozen = freezeArguments(value, { maxBytes: MAX_RECORDED_BYTES });
  return frozen.ok ? frozen.value : NO_ARGS;
}

const MAX_RECORDED_BYTES = 1024 * 1024;
