import type { Clock } from '../../contract/context.js';

/** Pauses between two polls, in milliseconds. Each pause is twice as long as the one before it. */
const PAUSES_MS = { first: 5, longest: 200 };
/** The same if a signal triggers a poll: then the regular polls only catch lost signals. */
const SIGNALLED_PAUSES_MS = { first: 100, longest: 500 };

export interface PollOptions {
  readonly clock: Pick<Clock, 'after' | 'monotonic'>;
  /** Resolves when the batch is stopped: then polling ends. */
  readonly stopped: Promise<void>;
  /** How long consecutive polls may fail, in milliseconds. */
  readonly patienceMs: number;
  /**
   * Calls the given function when there is something to see, until the returned function is called. With signals, even
   * the first poll comes after a pause or a signal. If absent: there are no signals.
   */
  readonly onSignal?: ((look: () => void) => () => void) | undefined;
}

/**
 * Polls until a poll reports the end, or the batch is stopped.
 *
 * @throws the error of the last poll, if polls have failed for too long
 */
export async function pollUntil(isOver: () => Promise<boolean>, options: PollOptions): Promise<void> {
  const { clock, patienceMs, onSignal } = options;
  let isStopped = false;
  const stopped = options.stopped.then(() => {
    isStopped = true;
    return true;
  });
  let isSignalled = onSignal === undefined;
  let endPause = (): void => {};
  const unlisten = onSignal?.(() => {
    isSignalled = true;
    endPause();
  });
  const pause = async (ms: number): Promise<void> => {
    let forget = (): void => {};
    const over = new Promise<void>((resolve) => {
      endPause = resolve;
      forget = clock.after(ms, resolve);
    });
    await Promise.race([over, stopped]);
    forget();
  };
  const { first, longest } = onSignal === undefined ? PAUSES_MS : SIGNALLED_PAUSES_MS;
  let failingSince: number | undefined;
  try {
    for (let pauseMs = first; ; pauseMs = Math.min(2 * pauseMs, longest)) {
      if (!isSignalled) await pause(pauseMs);
      if (isStopped) return;
      isSignalled = false;
      try {
        if (await Promise.race([isOver(), stopped])) return;
        failingSince = undefined;
      } catch (error) {
        failingSince ??= clock.monotonic();
        if (clock.monotonic() - failingSince >= patienceMs) throw error;
      }
    }
  } finally {
    unlisten?.();
  }
}
