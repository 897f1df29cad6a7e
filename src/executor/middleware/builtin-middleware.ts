import {
  isFunction,
  normalizeOptions,
  type OptionRules,
  option,
  requireMethod,
} from '../../base/normalize-options.js';
import type { ToolCall, ToolResult } from '../../contract/call.js';
import type { Clock, Logger, Middleware } from '../../contract/context.js';
import { systemClock } from '../../platform/clock/clock.js';

/** Metrics of one tool. Durations are in milliseconds. */
export interface ToolMetrics {
  readonly totalExecutions: number;
  readonly successfulExecutions: number;
  readonly failedExecutions: number;
  readonly totalDurationMs: number;
  readonly averageDurationMs: number;
  /** The number of failures for each error code. */
  readonly failuresByCode: Readonly<Record<string, number>>;
}

export interface Metrics {
  readonly middleware: Middleware;
  /** A copy of the metrics, by tool name. */
  snapshot(): Readonly<Record<string, ToolMetrics>>;
  reset(): void;
}

/** Counts calls and their outcomes. One instance can serve several executors. */
export function createMetrics(): Metrics {
  const tools = new Map<string, Tally>();
  return {
    middleware: async (call, _context, next) => {
      const tally = tools.get(call.name) ?? { succeeded: 0, failed: 0, durationMs: 0, codes: new Map() };
      tools.set(call.name, tally);
      let result: ToolResult;
      try {
        result = await next();
      } catch (error) {
        tally.failed++;
        throw error;
      }
      count(tally, result);
      return result;
    },
    snapshot: () => Object.fromEntries([...tools].map(([name, tally]) => [name, toMetrics(tally)])),
    reset: () => tools.clear(),
  };
}

interface Tally {
  succeeded: number;
  failed: number;
  durationMs: number;
  readonly codes: Map<string, number>;
}

function count(tally: Tally, result: ToolResult): void {
  tally.durationMs += result.executionTimeMs;
  if (result.success) {
    tally.succeeded++;
    return;
  }
  tally.failed++;
  tally.codes.set(result.error.code, (tally.codes.get(result.error.code) ?? 0) + 1);
}

function toMetrics({ succeeded, failed, durationMs, codes }: Tally): ToolMetrics {
  const total = succeeded + failed;
  return {
    totalExecutions: total,
    successfulExecutions: succeeded,
    failedExecutions: failed,
    totalDurationMs: durationMs,
    averageDurationMs: total === 0 ? 0 : durationMs / total,
    failuresByCode: Object.fromEntries(codes),
  };
}

/**
 * Logs the start and end of every call. Arguments and outputs are not logged, because they may hold secrets.
 * @throws ToolError `config_invalid` for a value that is not a logger
 */
export function loggingMiddleware(logger: Logger): Middleware {
  requireMethod('loggingMiddleware()', logger, 'info', 'a logger');
  requireMethod('loggingMiddleware()', logger, 'warn', 'a logger');
  return async (call, { conversation, risk }, next) => {
    logger.info({ callId: call.id, tool: call.name, conversation, risk }, 'tool call started');
    const result = await next();
    const { success, executionTimeMs, truncated } = result;
    const data = { callId: call.id, tool: call.name, success, executionTimeMs, truncated };
    if (result.success) logger.info(data, 'tool call succeeded');
    else logger.warn({ ...data, code: result.error.code }, 'tool call failed');
    return result;
  };
}

export interface TimingOptions {
  /** Default: the system's clock. */
  readonly clock?: Pick<Clock, 'monotonic'>;
  /**
   * Called once for each call, even if the call failed, with its duration in milliseconds. Default: log with
   * the executor's logger at level `info`.
   */
  readonly report?: (call: ToolCall, durationMs: number) => void;
}

const RULES: OptionRules<{ [K in keyof TimingOptions]-?: TimingOptions[K] | undefined }> = {
  clock: option(undefined, hasMonotonic, 'a clock (monotonic)'),
  report: option(undefined, isFunction, 'a function'),
};

/**
 * Measures how long each call takes inside this middleware.
 * @throws ToolError `config_invalid` for a wrong option.
 */
export function createTiming(options?: TimingOptions): Middleware {
  const { clock = systemClock, report } = normalizeOptions('createTiming', options, RULES);
  return async (call, { logger }, next) => {
    const startedAt = clock.monotonic();
    try {
      return await next();
    } finally {
      const durationMs = clock.monotonic() - startedAt;
      if (report !== undefined) report(call, durationMs);
      else logger.info({ callId: call.id, tool: call.name, durationMs }, 'tool call took');
    }
  };
}

function hasMonotonic(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'monotonic' in value && isFunction(value.monotonic);
}
