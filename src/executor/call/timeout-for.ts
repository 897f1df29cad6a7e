import type { RunOptions } from '../../contract/executor.js';
import type { ReadyCall } from './evaluated-call.js';
import type { ToolSettings } from './settings.js';

/** The longest delay that timers can wait, in milliseconds (about 24.8 days). */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * F003: the caller's word for this run (E038) beats an argument or the tool's own value, that beats a class that the configuration
 * names, that beats the tool's default, that beats the class, that beats the general default (D053, D117, D118).
 * @throws what the tool throws when it is asked
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

function usable(ms: number | undefined): number | undefined {
  return ms !== undefined && ms > 0 ? ms : undefined;
}
