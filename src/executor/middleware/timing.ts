import { isFunction, normalizeOptions, type OptionRules, option } from '../../base/normalize-options.js';
import type { ToolCall } from '../../contract/call.js';
import type { Clock, Middleware } from '../../contract/context.js';
import { systemClock } from '../../platform/clock.js';

export interface TimingOptions {
  /** Default: the system's. */
  readonly clock?: Pick<Clock, 'monotonic'>;
  /** Called once per call, also when it failed. Milliseconds. Default: the executor's logger is told, level `info`. */
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
