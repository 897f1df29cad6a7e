import { systemClock } from '../../platform/clock/clock.js';
import type { Transaction } from './open-transaction.js';

export interface SizeWatch {
  /** Resolves with the limit when the changes take more than it. */
  readonly tooLarge: Promise<number>;
  end(): void;
}

/** Looks now and then how much a command has changed; the more seldom, the longer a look takes. */
export function watchSize(transaction: Transaction | undefined): SizeWatch {
  if (transaction === undefined) return { tooLarge: new Promise(() => {}), end() {} };
  const { maxMb } = transaction;
  let stop = systemClock.after(PAUSE_MS, look);
  let tell: (maxMb: number) => void = () => {};
  const tooLarge = new Promise<number>((resolve) => {
    tell = resolve;
  });
  function look(): void {
    const start = systemClock.monotonic();
    if (isTooLarge(transaction)) tell(maxMb);
    else stop = systemClock.after(Math.max(PAUSE_MS, 50 * (systemClock.monotonic() - start)), look);
  }
  return { tooLarge, end: () => stop() };
}

function isTooLarge(transaction: Transaction | undefined): boolean {
  return transaction !== undefined && transaction.size() > mostBytes(transaction);
}

export function mostBytes({ maxMb }: Pick<Transaction, 'maxMb'>): number {
  return maxMb * 1024 * 1024;
}

const PAUSE_MS = 1000;
