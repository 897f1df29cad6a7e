import type { ErrorCode } from '../../errors/catalogue.js';
import { cleanOutput } from '../../output/clean-output.js';
import type { ReadyCall, ResolvedCall } from '../plan/judged-call.js';
import { notRun } from './results.js';

/** Answers a call that was ready without running it. The message may hold what a person or a guard wrote. */
export function refuseReady(ready: ReadyCall, code: ErrorCode, message: string): ResolvedCall {
  const reason = cleanReason(message);
  return {
    kind: 'resolved',
    call: ready.call,
    result: notRun(ready.call, code, reason),
    reason,
    effects: ready.effects,
  };
}

export function cleanReason(text: string): string {
  return cleanOutput(text, { maxBytes: MOST_BYTES }).text;
}

/** More than that is no reason; the limits of the output still come after it. */
const MOST_BYTES = 16_384;
