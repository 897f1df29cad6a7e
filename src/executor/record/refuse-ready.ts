import type { ResultError } from '../../contract/call.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { cleanOutput } from '../../output/clean-output.js';
import type { ReadyCall, ResolvedCall } from '../plan/judged-call.js';
import { notRun } from './results.js';

/** Answers a call that was ready without running it. Message and hint may hold what a person or a guard wrote. */
export function refuseReady(ready: ReadyCall, code: ErrorCode, message: string, hint?: string): ResolvedCall {
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

/** Why a call did not run, for people: what the model reads, and what only they can do about it. */
export function reasonFor({ message, hint }: ResultError): string {
  return hint === undefined ? message : `${message} ${hint}`;
}

/** The answer to a call that did not run because the journal cannot record it; why is the hint. */
export const UNRECORDED =
  'Nothing was run: the call could not be recorded. Tell the person; repeat it later.';

export function cleanReason(text: string): string {
  return cleanOutput(text, { maxBytes: MOST_BYTES }).text;
}

/** More than that is no reason; the limits of the output still come after it. */
const MOST_BYTES = 16_384;
