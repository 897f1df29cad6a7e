import type { Executed, ToolCall, ToolResult } from '../../contract/call.js';
import type { OutcomeError } from './outcome.js';
import { CANCELLED_MESSAGE, CLOSED_MESSAGE, notRun } from './results.js';

/** Why a call must end before it has finished. */
export type Stop =
  | { readonly cause: 'timeout'; readonly timeoutMs: number }
  | { readonly cause: 'cancelled'; readonly reason?: string }
  | { readonly cause: 'closed' }
  | { readonly cause: 'fail_fast' };

/** @param reason the reason that the caller gave */
export function cancelled(reason: unknown): Stop {
  return typeof reason === 'string' ? { cause: 'cancelled', reason } : { cause: 'cancelled' };
}

/** The outcome of a stopped call (D053, D054, B008). */
export function stoppedOutcome(
  stop: Stop,
  toolName: string,
  executed: Executed,
): { readonly error: OutcomeError } {
  switch (stop.cause) {
    case 'timeout':
      return {
        error: {
          code: 'timeout',
          message: `${toolName} timed out after ${stop.timeoutMs}ms`,
          details: { timeoutMs: stop.timeoutMs },
          executed,
        },
      };
    case 'cancelled':
      return {
        error: {
          code: 'cancelled',
          message: CANCELLED_MESSAGE,
          ...(stop.reason === undefined ? {} : { details: { reason: stop.reason } }),
          executed,
        },
      };
    case 'closed':
      return {
        error: { code: 'cancelled', message: CLOSED_MESSAGE, details: { reason: 'closed' }, executed },
      };
    case 'fail_fast':
      return {
        error: { code: 'cancelled', message: FAIL_FAST_MESSAGE, details: { reason: 'fail_fast' }, executed },
      };
  }
}

/** The answer to a call that was stopped before it started. */
export function stoppedBefore(call: Pick<ToolCall, 'id' | 'name'>, stop: Stop): ToolResult {
  const { error } = stoppedOutcome(stop, call.name, 'no');
  return notRun(call, error.code, error.message, error.details);
}

/** By abort reason: why the batch was stopped. */
const stops = new WeakMap<Error, Stop>();

/** The abort reason for the signal of a stopped batch. */
export function toReason(stop: Stop): Error {
  const reason = new Error(stop.cause === 'closed' ? CLOSED_MESSAGE : CANCELLED_MESSAGE);
  stops.set(reason, stop);
  return reason;
}

/** Why an aborted signal stops a call: the signal of its batch, or the caller's own. */
export function stopOf({ reason }: AbortSignal): Stop {
  return (reason instanceof Error ? stops.get(reason) : undefined) ?? cancelled(reason);
}

const FAIL_FAST_MESSAGE = 'Cancelled: another call of the batch failed';
