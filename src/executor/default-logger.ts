import type { Logger } from '../contract/context.js';

/** For programs that create many executors: each reason is logged once per process, up to this number of reasons. */
const MOST_REASONS = 20;
const reported = new Set<unknown>();

const nothing = (): void => {};

/**
 * The logger if the host gives none. Silent, except for the reason why calls cannot be recorded: each such
 * call is answered with an error for the model, and the developer would not see the cause.
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
