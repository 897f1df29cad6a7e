import type { ToolResult } from '../../contract/call.js';
import type { Middleware } from '../../contract/context.js';

/** Figures of one tool. Durations are milliseconds. */
export interface ToolMetrics {
  readonly totalExecutions: number;
  readonly successfulExecutions: number;
  readonly failedExecutions: number;
  readonly totalDurationMs: number;
  readonly averageDurationMs: number;
  /** How often each error code came up. */
  readonly failuresByCode: Readonly<Record<string, number>>;
}

export interface Metrics {
  readonly middleware: Middleware;
  /** By tool name; a copy. */
  snapshot(): Readonly<Record<string, ToolMetrics>>;
  reset(): void;
}

/** Counts calls and how they ended. One instance may serve several executors. */
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
