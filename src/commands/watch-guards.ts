import type { CommandSandbox } from '../contract/processes.js';
import { idleClock, systemClock } from '../platform/clock/clock.js';
import { watchEntries } from '../platform/fs/watch-entries.js';
import type { GuardWatch } from './sandbox/guard-mounts.js';

/** Watches protected and hidden files while a command runs. */
export interface WatchedGuards {
  /** Resolves when a protection was lost and the command must be ended. */
  readonly lost: Promise<void>;
  /** Ends it. */
  end(): void;
  /** The facts for the result of the command. */
  report(): Pick<CommandSandbox, 'lost' | 'disarmed'>;
}

/** Most commands have ended by then; their guards are checked at the end. */
const BEGIN_MS = 20;
/** The interval of checks if the system reports no changes, and of checks for repositories created anywhere. */
const EVERY_MS = 1000;
/** The maximum share of time for checks. */
const PART = 0.02;
const MOST_WATCHED = 500;

/** @param inBackground it does not keep this program alive */
export function watchGuards(guards: GuardWatch | undefined, inBackground: boolean): WatchedGuards {
  if (guards === undefined) return NOTHING;
  const clock = inBackground ? idleClock : systemClock;
  const lost = new Set<string>();
  let found = (): void => {};
  const happened = new Promise<void>((resolve) => {
    found = resolve;
  });
  guards.begin?.();
  const look = (at?: string): void => {
    for (const path of guards.lost(at)) lost.add(path);
    if (lost.size > 0) found();
  };
  let endWatch = (): void => {};
  let isEnded = false;
  let stop = clock.after(BEGIN_MS, () => {
    endWatch = watchEntries(guards.watched.slice(0, MOST_WATCHED), look);
    round();
  });
  function disarm(isLast?: 'last'): readonly string[] {
    try {
      return guards?.disarm(isLast) ?? [];
    } catch {
      // Another program changes the roots at the same time. It is checked again, also before the next
      // command.
      return [];
    }
  }
  function round(): void {
    if (isEnded) return;
    const before = systemClock.monotonic();
    look();
    disarm();
    const took = systemClock.monotonic() - before;
    stop = clock.after(Math.max(EVERY_MS, took / PART), round);
  }
  return {
    lost: happened,
    end() {
      isEnded = true;
      stop();
      endWatch();
    },
    report() {
      look();
      const disarmed = disarm('last');
      return {
        ...(lost.size === 0 ? {} : { lost: [...lost] }),
        ...(disarmed.length === 0 ? {} : { disarmed }),
      };
    },
  };
}

const NOTHING: WatchedGuards = { lost: new Promise(() => {}), end() {}, report: () => ({}) };
