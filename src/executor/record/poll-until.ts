import type { Clock } from '../../contract/context.js';

/** Pauses between two looks, in milliseconds: each twice as long as the one before it. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 200;

interface PollOptions {
  readonly clock: Pick<Clock, 'after' | 'monotonic'>;
  /** Resolves when the batch is stopped: then there is no further look. */
  readonly stopped: Promise<void>;
  /** How long looks may fail one after the other, in milliseconds. */
  readonly patienceMs: number;
}

/**
 * Looks again and again, until a look says that it is over, or the batch is stopped.
 *
 * @throws the error of the last look, if looks have failed for too long
 */
export async function pollUntil(isOver: () => Promise<boolean>, options: PollOptions): Promise<void> {
  const { clock, patienceMs } = options;
  let isStopped = false;
  const stopped = options.stopped.then(() => {
    isStopped = true;
    return true;
  });
  let failingSince: number | undefined;
  for (let pauseMs = FIRST_PAUSE_MS; !isStopped; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      if (await Promise.race([isOver(), stopped])) return;
      failingSince = undefined;
    } catch (error) {
      failingSince ??= clock.monotonic();
      if (clock.monotonic() - failingSince >= patienceMs) throw error;
    }
    let forget = (): void => {};
    const pause = new Promise<void>((resolve) => {
      forget = clock.after(pauseMs, resolve);
    });
    await Promise.race([pause, stopped]);
    forget();
  }
}
