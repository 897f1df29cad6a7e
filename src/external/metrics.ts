import type { ExternalToolMetrics } from '../contract/external.js';
import type { ErrorCode } from '../errors/catalogue.js';

/** How many recent durations are kept for percentiles. */
const KEPT = 1_000;

/** Counts attempts by tool name. The counts survive a replaced program. */
export class MetricsBook {
  readonly #counters = new Map<string, Counter>();

  /**
   * @param startedAt milliseconds since the epoch.
   * @param failure left out for a success.
   */
  record(name: string, startedAt: number, durationMs: number, failure?: ErrorCode): void {
    const counter = this.#counters.get(name) ?? newCounter();
    this.#counters.set(name, counter);
    counter.durations[counter.total % KEPT] = durationMs;
    counter.total++;
    counter.totalMs += durationMs;
    counter.lastAt = startedAt;
    if (failure === undefined) return;
    counter.failed++;
    counter.failures.set(failure, (counter.failures.get(failure) ?? 0) + 1);
  }

  /** Returns a copy. */
  read(name: string): ExternalToolMetrics {
    const { total, failed, totalMs, lastAt, durations, failures } = this.#counters.get(name) ?? newCounter();
    return {
      totalExecutions: total,
      successfulExecutions: total - failed,
      failedExecutions: failed,
      totalDurationMs: totalMs,
      averageDurationMs: total === 0 ? 0 : totalMs / total,
      lastExecutedAt: lastAt === undefined ? null : new Date(lastAt).toISOString(),
      percentilesMs: percentilesOf(durations),
      failures: Object.fromEntries(failures),
    };
  }
}

interface Counter {
  total: number;
  failed: number;
  totalMs: number;
  lastAt: number | undefined;
  readonly durations: number[];
  readonly failures: Map<ErrorCode, number>;
}

function newCounter(): Counter {
  return { total: 0, failed: 0, totalMs: 0, lastAt: undefined, durations: [], failures: new Map() };
}

/** The smallest duration that this percentage of attempts does not exceed. */
export function percentilesOf(durations: readonly number[]): ExternalToolMetrics['percentilesMs'] {
  if (durations.length === 0) return null;
  const sorted = durations.toSorted((one, other) => one - other);
  const at = (percent: number): number => sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? 0;
  return { p50: at(50), p95: at(95), p99: at(99) };
}
