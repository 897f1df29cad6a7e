import type { Logger } from '../contract/context.js';

/** Programs that make executor after executor: each reason once in the process, and so many reasons at most. */
const MOST_REASONS = 20;
const reported = new Set<unknown>();

const nothing = (): void => {};

/**
 * For a host that gives no logger. Silent, but for one thing: why calls cannot be recorded. Each of them is answered with an
 * error for the model, and the developer would look for the reason in vain.
 */
export const DEFAULT_LOGGER: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error({ code, why }, message) {
    if (code !== 'journal_unavailable' || reported.has(why) || reported.size === MOST_REASONS) return;
    reported.add(why);
    console.error(`toolexec: ${message}: ${String(why)}`);
  },
};
