import { systemClock } from '../platform/clock.js';
import type { OutputPump } from './pump-output.js';

export interface DrainTimes {
  /** Without a chunk for so long, what is still open is held by somebody who has nothing to say. */
  readonly quietMs: number;
  readonly limitMs: number;
}

/**
 * Reads what is in the pipes after the command itself has ended. Their end says that all was read, but a process that
 * the command left running may keep it from ever coming (D107).
 */
export function drainOutput(
  output: OutputPump,
  { quietMs, limitMs }: DrainTimes = { quietMs: 50, limitMs: 250 },
): Promise<void> {
  output.hurry();
  const start = systemClock.monotonic();
  return new Promise((resolve) => {
    let seen = output.count();
    let stop = systemClock.after(quietMs, look);
    // Where the program was busy for so long, the timer is served before the pipes are: judged is when both had their turn.
    function look(): void {
      setImmediate(judge);
    }
    function judge(): void {
      const quiet = output.count() === seen;
      const late = systemClock.monotonic() - start > limitMs;
      seen = output.count();
      if (quiet || late) resolve();
      else stop = systemClock.after(quietMs, look);
    }
    void output.ended.then(() => {
      stop();
      resolve();
    });
  });
}
