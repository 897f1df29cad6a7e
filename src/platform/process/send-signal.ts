import { constants } from 'node:os';

export type SignalName = 'SIGTERM' | 'SIGKILL' | 'SIGCONT' | 'SIGWINCH';

/**
 * Sends a signal to a process, or to a process group if `target` is negative. `gone`: there is no such
 * process. `refused`: this user may not signal it.
 */
export function sendSignal(target: number, signal: SignalName | 0): 'sent' | 'gone' | 'refused' {
  // 0 is this process's own group, 1 is init, -1 is every process that may be signaled.
  if (!Number.isSafeInteger(target) || target === process.pid || (target >= -1 && target <= 1)) {
    return 'refused';
  }
  try {
    process.kill(target, signal);
    return 'sent';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? 'gone' : 'refused';
  }
}

/** 9 for `SIGKILL`; undefined for a name that is not a signal on this system. */
export function signalNumber(name: string): number | undefined {
  return Object.entries(constants.signals).find(([signal]) => signal === name)?.[1];
}

/** `SIGKILL` for 9; undefined if the number is not a signal on this system. */
export function signalName(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
}
