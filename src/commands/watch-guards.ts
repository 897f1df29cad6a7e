import type { CommandSandbox } from '../contract/processes.js';
import { idleClock, systemClock } from '../platform/clock/clock.js';
import { watchEntries } from '../platform/fs/watch-entries.js';
import type { GuardWatch } from './sandbox/guard-mounts.js';

/** Looks after what the sandbox guards, or hides, while a command runs. */
export interface WatchedGuards {
  /** Resolves when a guard was lost, so that the command cannot go on. */
  readonly lost: Promise<void>;
  /** Ends it. */
  end(): void;
  /** What is to be said of it at the end of the command. */
  report(): Pick<CommandSandbox, 'lost' | 'disarmed'>;
}

/** Most commands have ended by then: those are looked after at their end. */
const BEGIN_MS = 20;
/** Where the system tells of no change, and for repositories that are made anywhere. */
const EVERY_MS = 1000;
/** A round takes at most this part of the time. */
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
      // Others change the roots at the same time. It is looked at again, and before the next command as well.
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
