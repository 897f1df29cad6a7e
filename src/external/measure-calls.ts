import type { ToolOutput } from '../contract/tool.js';
import { type ErrorCode, isErrorCode } from '../errors/catalogue.js';
import { isToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import type { MetricsBook } from './metrics.js';
import type { CallRunner } from './run-tool.js';

/** Counts every attempt, successful or not. */
export function measureCalls(metrics: MetricsBook, next: CallRunner): CallRunner {
  return (call) => {
    const at = systemClock.now();
    return timed(
      () => next(call),
      (durationMs, code) => metrics.record(call.name, at, durationMs, code),
    );
  };
}

/** @param ended receives the duration and the error code of a failure. */
export async function timed(
  run: () => Promise<ToolOutput>,
  ended: (durationMs: number, code: ErrorCode | undefined) => void,
): Promise<ToolOutput> {
  const start = systemClock.monotonic();
  const tell = (code?: ErrorCode): void => ended(systemClock.monotonic() - start, code);
  try {
    const output = await run();
    tell(output.error === undefined ? undefined : (output.error.code ?? 'execution_failed'));
    return output;
  } catch (error) {
    tell(isToolError(error) && isErrorCode(error.code) ? error.code : 'execution_failed');
    throw error;
  }
}
