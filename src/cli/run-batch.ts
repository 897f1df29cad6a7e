import type { ReadError, ToolCall, ToolResult } from '../contract/call.js';
import type { BatchRun, Executor, RunOptions } from '../contract/executor.js';
import { systemClock } from '../platform/clock/clock.js';
import type { Stdio } from '../platform/runtime/stdio.js';
import { answerReadErrors } from '../providers/response-calls.js';
import { UsageError } from './cli-context.js';
import { resultAsTyped } from './display/as-typed.js';
import type { Display } from './display/display.js';
import { watchInterrupts } from './watch-interrupts.js';

interface BatchAnswer {
  /** One per call of the response, readable or not, in order. */
  readonly results: readonly ToolResult[];
  readonly interrupted: boolean;
}

interface BatchToRun extends BatchWatch {
  readonly calls: readonly ToolCall[];
  readonly options: RunOptions;
}

interface BatchWatch extends CancelWatch {
  /** Unreadable calls; each is answered in its place. */
  readonly errors: readonly ReadError[];
}

export interface CancelWatch {
  readonly executor: Executor;
  readonly display: Display;
  readonly stdio: Stdio;
  /** Ends the process; called when the person does not want to wait and none of our processes runs. */
  readonly exitNow: () => void;
}

/** Runs and displays a batch, and cancels it on request. */
export async function runBatch(batch: BatchToRun): Promise<BatchAnswer> {
  const { executor, calls, errors, options } = batch;
  if (calls.length > 0) return watchBatch(() => executor.start(calls, options), batch);
  showErrors(batch);
  return { results: answerReadErrors([], errors), interrupted: false };
}

/** Displays a running batch, and cancels it on request. */
export async function watchBatch(
  start: () => BatchRun | Promise<BatchRun>,
  watch: BatchWatch,
): Promise<BatchAnswer> {
  const { errors, display } = watch;
  showErrors(watch);
  const run = await start();
  const interrupts = watchCancel(watch, () => run.cancel());
  try {
    const results = (await follow(run, display)).map(resultAsTyped);
    return { results: answerReadErrors(results, errors), interrupted: interrupts.happened() };
  } finally {
    interrupts.stop();
    display.end();
  }
}

/** Cancels at the first Ctrl-C, and ends the process at the second one. */
export function watchCancel(
  { executor, display, stdio, exitNow }: CancelWatch,
  cancel: () => void,
): ReturnType<typeof watchInterrupts> {
  return watchInterrupts(stdio, {
    first: () => {
      display.note('cancelling; press Ctrl-C again to leave immediately');
      cancel();
    },
    second: () => void leave(executor, exitNow),
  });
}

function showErrors({ errors, display }: BatchWatch): void {
  for (const result of answerReadErrors([], errors)) {
    display.event({
      type: 'completed',
      callId: result.callId,
      toolName: result.toolName,
      at: systemClock.now(),
      result,
    });
  }
}

async function follow(run: BatchRun, display: Display): Promise<readonly ToolResult[]> {
  for await (const event of run.events) display.event(event);
  return run.results;
}

const LEAVE_WITHIN_MS = 1000;

async function leave(executor: Executor, exitNow: () => void): Promise<void> {
  // Closing kills running commands: otherwise they would continue after the end.
  const patience = new Promise<void>((resolve) => systemClock.after(LEAVE_WITHIN_MS, resolve));
  await Promise.race([executor.close(), patience]);
  exitNow();
}

/** A misspelled `--approve` would refuse the intended call after others have run. @throws UsageError */
export function requireKnownIds(
  approve: readonly string[] | undefined,
  calls: readonly { readonly id?: string }[],
  what: 'response' | 'batch',
): void {
  const known = new Set(calls.map(({ id }) => id));
  const unknown = approve?.find((id) => !known.has(id));
  if (unknown === undefined) return;
  const ids = [...known].filter((id) => id !== undefined).join(', ');
  throw new UsageError(
    `Cannot approve "${unknown}": the ${what} has no such call. Its calls: ${ids || 'none'}.`,
  );
}

/** It waits for the person, so its answer is not final. */
export function isPutOff({ metadata }: ToolResult): boolean {
  return metadata.waits_for !== undefined;
}
