import type { ToolResult } from '../../contract/call.js';
import type { Clock } from '../../contract/context.js';
import type { CallKey, CallRecord, Journal } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { type NamedCall, notRun } from '../answer/results.js';
import { type Stop, stoppedBefore } from '../answer/stopped.js';
import { asDecided, type CallRecovery } from './attach.js';
import { type PollOptions, pollUntil } from './poll-until.js';

/** A call that a worker runs, or will run. */
export interface OpenCall {
  readonly index: number;
  readonly call: NamedCall;
}

export interface ElsewhereContext {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly batchId: string;
  readonly startDeadlineMs: number | undefined;
  /** How long the journal may fail during a wait, in milliseconds. */
  readonly patienceMs: number;
  readonly stop: { readonly reason: () => Stop | undefined; readonly happens: Promise<void> };
  /** Called when a worker has started the call. */
  readonly started: (open: OpenCall) => void;
  /** Called when the answer of the call is recorded. */
  readonly answered: (open: OpenCall, result: ToolResult) => void;
  readonly recovery: CallRecovery;
}

/**
 * Waits for the real results of calls that workers run, however long they take.
 *
 * 1. Only a call that no worker has started is answered here: after its start deadline, or when the batch is
 *   stopped. The journal decides between this answer and a worker's claim.
 * 2. A running call is asked to stop, and its worker records the result.
 * 3. If a worker is gone, another worker or this process recovers its calls.
 *
 * @param calls answered calls are removed from it
 * @throws the journal's error
 */
export async function awaitElsewhere(
  calls: Map<CallKey, OpenCall>,
  context: ElsewhereContext,
): Promise<void> {
  const { clock, startDeadlineMs, patienceMs, stop } = context;
  const begun = new Set<CallKey>();
  const since = clock.monotonic();
  const look = async (): Promise<boolean> => {
    const running: CallRecord[] = [];
    const isLate = startDeadlineMs !== undefined && clock.monotonic() - since >= startDeadlineMs;
    for (const record of await context.journal.batch(context.batchId)) {
      const open = calls.get(record.key);
      if (open === undefined) continue;
      if (record.worker !== undefined && !begun.has(record.key)) {
        begun.add(record.key);
        context.started(open);
      }
      if (record.result !== undefined) {
        calls.delete(record.key);
        context.answered(open, asDecided(record, record.result));
      } else if (record.worker !== undefined) running.push(record);
      else if (isLate) await expire(record, context, expired(open.call, startDeadlineMs));
    }
    if (running.length > 0) await context.recovery.recoverLost(running);
    return calls.size === 0;
  };
  const onSignal = signalsOf(calls, context);
  await pollUntil(look, { clock, patienceMs, onSignal, stopped: stop.happens });
  const reason = stop.reason();
  if (calls.size === 0 || reason === undefined) return;
  for (const [key, { call }] of calls)
    await context.journal.cancel?.(key, stoppedBefore(call, reason), clock.now());
  await pollUntil(look, { clock, patienceMs, onSignal, stopped: new Promise(() => {}) });
}

/** Signals of answers, and of the start deadline. Undefined: the journal has no signals. */
function signalsOf(
  calls: ReadonlyMap<CallKey, OpenCall>,
  { journal: { signals }, clock, startDeadlineMs }: ElsewhereContext,
): PollOptions['onSignal'] {
  if (signals === undefined) return undefined;
  return (look) => {
    const unlisten = signals.listen('answer', (key) => {
      if (calls.has(key)) look();
    });
    const forget = startDeadlineMs === undefined ? () => {} : clock.after(startDeadlineMs, look);
    return () => {
      unlisten();
      forget();
    };
  };
}

/** Answers a call that has missed its start deadline, unless a worker has started it. */
export async function expire(
  { key }: Pick<CallRecord, 'key'>,
  { journal, clock }: Pick<ElsewhereContext, 'journal' | 'clock'>,
  result: ToolResult,
): Promise<void> {
  await journal.finish(key, result, clock.now(), 'queued');
}

/** The answer to a call that no worker started in time. */
export function expired(call: NamedCall, startDeadlineMs: number): ToolResult {
  const details: JsonObject = { start_deadline_ms: startDeadlineMs };
  const message = `Not run: no worker could start ${call.name} within ${startDeadlineMs} ms.`;
  return notRun(call, 'expired', message, details);
}
