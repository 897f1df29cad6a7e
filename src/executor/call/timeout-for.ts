import type { RunOptions } from '../../contract/executor.js';
import type { ReadyCall } from './evaluated-call.js';
import type { ToolSettings } from './settings.js';

/** The longest delay of a timer, in milliseconds (about 24.8 days). */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * The timeout of a call in milliseconds. The first value that exists counts (F003, D053, D117, D118):
 *
 * 1. the caller's value for this run (E038),
 * 2. the value of an argument or of the tool itself,
 * 3. the value of the tool's class, if the configuration names that class,
 * 4. the tool's default,
 * 5. the default of the class, which may be the general default.
 *
 * @throws any error that the tool throws when it computes its timeout
 */
export function timeoutFor(
  { tool, parsed }: ReadyCall,
  { timeouts }: ToolSettings,
  { timeoutMs }: RunOptions,
): number {
  if (timeoutMs !== undefined) return Math.min(timeoutMs, LONGEST_MS);
  const own = typeof tool.timeoutMs === 'function' ? tool.timeoutMs(parsed) : tool.timeoutMs;
  const ofClass = timeouts[tool.timeoutClass];
  const chosen = usable(own) ?? (ofClass.explicit ? undefined : usable(tool.defaultTimeoutMs)) ?? ofClass.ms;
  return Math.min(chosen, LONGEST_MS);
}

// A tool's function may answer anything: the text "30" is not a time limit of 30 ms.
function usable(ms: unknown): number | undefined {
  return typeof ms === 'number' && ms > 0 ? ms : undefined;
}
