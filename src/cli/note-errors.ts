import type { Logger } from '../contract/context.js';
import { systemClock } from '../platform/clock/clock.js';
import type { Display } from './display/display.js';

/** An error that repeats is noted again after this time. */
const QUIET_MS = 60_000;
const MOST_REMEMBERED = 100;

/** The logger of a command that serves until a signal: the person sees its errors with their reasons. */
export function noteErrors(
  logger: Logger,
  display: Pick<Display, 'note'>,
  { monotonic } = systemClock,
): Logger {
  const noted = new Map<string, number>();
  return {
    ...logger,
    error({ why }, message) {
      const line = why === undefined ? message : `${message}: ${String(why)}`;
      const now = monotonic();
      if (now - (noted.get(line) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
      if (noted.size === MOST_REMEMBERED) noted.clear();
      noted.set(line, now);
      display.note(line);
    },
  };
}
