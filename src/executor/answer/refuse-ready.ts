import { WAITING_ANSWER, waitingHint } from '../../contract/approval.js';
import type { ResultError, ToolFailure } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import { OUTPUT_LIMITS } from '../../contract/output-limits.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { isToolError } from '../../errors/tool-error.js';
import { cleanOutput } from '../../output/clean-output.js';
import type { BatchScope } from '../call/batch-scope.js';
import type { EvaluatedCall, ReadyCall, ResolvedCall } from '../call/evaluated-call.js';
import type { ResultSettings } from '../call/settings.js';
import { cleanJson } from './clean-json.js';
import { failure, type NamedCall, notRun } from './results.js';
import { stopOf, stoppedBefore } from './stopped.js';

/**
 * Answers a ready call without running it. The message and hint may contain text from a person or a guard, so
 * both are cleaned.
 */
export function refuseReady(
  ready: Pick<ReadyCall, 'call' | 'effects'>,
  code: ErrorCode,
  message: string,
  hint?: string,
): ResolvedCall {
  const remedy = hint === undefined ? undefined : cleanReason(hint);
  const result = notRun(ready.call, code, cleanReason(message), undefined, undefined, remedy);
  return {
    kind: 'resolved',
    call: ready.call,
    result,
    reason: reasonFor(result.error),
    effects: ready.effects,
  };
}

/** Answers a ready call whose signal was aborted before the call started. */
export function refuseStopped({ call, effects }: ReadyCall, signal: AbortSignal): ResolvedCall {
  const result = stoppedBefore(call, stopOf(signal));
  return { kind: 'resolved', call, result, reason: result.error?.message ?? '', effects };
}

/**
 * The reason for people why a call did not run: the message that the model reads, followed by the hint, which
 * only a person can act on.
 */
export function reasonFor({ message, hint }: ResultError): string {
  return hint === undefined ? message : `${message} ${hint}`;
}

/** The answer to a call that did not run because the journal cannot record it. The hint gives the cause. */
export const UNRECORDED =
  'Nothing was run: the call could not be recorded. Tell the person; repeat it later.';

/**
 * Refuses every ready call, because no call may run without a record.
 * @param mayBeQueued the journal may have recorded the batch, and then workers run its calls
 */
export function refuseUnrecorded(
  evaluated: readonly EvaluatedCall[],
  { id, settings }: Pick<BatchScope, 'id' | 'settings'>,
  error: unknown,
  mayBeQueued = false,
): readonly EvaluatedCall[] {
  const why = isToolError(error) ? error.message : String(error);
  const whole = isToolError(error) && error.hint !== undefined ? `${why} ${error.hint}` : why;
  const message = mayBeQueued ? 'it is not known whether the batch is queued' : 'nothing new is run';
  settings.logger.error({ batch: id, code: 'journal_unavailable', why: whole }, message);
  return evaluated.map((call) => {
    if (call.kind !== 'ready') return call;
    if (!mayBeQueued) return refuseReady(call, 'journal_unavailable', UNRECORDED, why);
    const result = perhapsQueued(call.call, why);
    return {
      kind: 'resolved',
      call: call.call,
      result,
      reason: reasonFor(result.error),
      effects: call.effects,
    };
  });
}

/** The answer to a call that a worker may have run, or may still run. The hint gives the cause. */
export function perhapsQueued(call: NamedCall, why: string): ToolFailure {
  return failure(call, 'journal_unavailable', PERHAPS_QUEUED, 'maybe', { hint: cleanReason(why) });
}

const PERHAPS_QUEUED =
  'It is not known whether a worker runs the call: the journal did not answer. Send the same call again, with the same id, to get its result.';

export function cleanReason(text: string): string {
  return cleanOutput(text, { maxBytes: OUTPUT_LIMITS.reasonBytes }).text;
}

/**
 * Cleans a refusal, because it quotes text from the model: it is neutralised, redacted and cut like all shown
 * text (D079).
 */
export function cleanRefusal(result: ToolFailure, settings: ResultSettings): ToolFailure {
  const { error } = result;
  const { maxOutputBytes: maxBytes, secretValues: values } = settings;
  const { text, truncated } = cleanOutput(error.message, { maxBytes, values });
  const details = cleanDetails(error.details, values);
  const hint = error.hint === undefined ? undefined : cleanOutput(error.hint, { maxBytes, values }).text;
  if (text === error.message && details === error.details && hint === error.hint) return result;
  return {
    ...result,
    error: {
      ...error,
      message: text,
      ...(hint === undefined ? {} : { hint }),
      ...(details === undefined ? {} : { details }),
    },
    truncated: result.truncated || truncated,
  };
}

function cleanDetails(details: JsonObject | undefined, values: readonly string[]): JsonObject | undefined {
  // Most details only say that the call was not executed.
  if (details === undefined || Object.keys(details).length < 2) return details;
  const uncut = { maxBytes: Number.POSITIVE_INFINITY, values };
  return cleanJson(details, (text) => cleanOutput(text, uncut).text);
}

/**
 * The preliminary answer to a call that waits for approval and has not run yet.
 * @param changed files that have changed since the request was shown
 */
export function pending(
  { call, effects }: Pick<ReadyCall, 'call' | 'effects'>,
  batchId: string,
  changed: readonly string[] = [],
  method: 'approve' | 'decide' = 'approve',
): ResolvedCall {
  const details = changed.length === 0 ? undefined : { changed: [...changed] };
  const hint = waitingHint(batchId, changed, method);
  const result = {
    ...notRun(call, 'approval_unavailable', WAITING_ANSWER, details, undefined, hint),
    metadata: { pending: true, waits_for: batchId },
  };
  return { kind: 'resolved', call, result, reason: WAITING_ANSWER, effects, recorded: true };
}
