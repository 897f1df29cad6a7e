import type { ToolCall } from '../../contract/call.js';
import type { Clock } from '../../contract/clock.js';
import type { Middleware } from '../../contract/middleware.js';

export interface TimingOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Told once per call, also when it failed. Milliseconds. */
  readonly report: (call: ToolCall, durationMs: number) => void;
}

/** Measures how long each call takes inside this middleware. */
export function createTiming({ clock, report }: TimingOptions): Middleware {
  return async (call, _context, next) => {
    const startedAt = clock.monotonic();
    try {
      return await next();
    } finally {
      report(call, clock.monotonic() - startedAt);
    }
  };
}
