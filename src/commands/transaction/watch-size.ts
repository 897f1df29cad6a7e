import { systemClock } from '../../platform/clock/clock.js';
import type { OutsidePlaces } from '../sandbox/outside-places.js';
import type { Transaction } from './open-transaction.js';

export interface SizeWatch {
  /** Resolves with the limit when the changes exceed it. */
  readonly tooLarge: Promise<number>;
  end(): void;
}

type Sized = Pick<Transaction, 'maxMb' | 'size'>;

/**
 * Measures a command's changes regularly, including those outside the roots; less often if that takes long.
 * For a command that writes through, only those outside the roots.
 */
export function watchSize(transaction: Sized | undefined, outside?: OutsidePlaces): SizeWatch {
  const { maxMb } = transaction ?? outside ?? {};
  if (maxMb === undefined) return { tooLarge: new Promise(() => {}), end() {} };
  const most = maxMb;
  let stop = systemClock.after(PAUSE_MS, look);
  let tell: (maxMb: number) => void = () => {};
  const tooLarge = new Promise<number>((resolve) => {
    tell = resolve;
  });
  function look(): void {
    const start = systemClock.monotonic();
    const size = (transaction?.size() ?? 0) + (outside?.bytes() ?? 0);
    if (size > most * 1024 * 1024) tell(most);
    else stop = systemClock.after(Math.max(PAUSE_MS, 50 * (systemClock.monotonic() - start)), look);
  }
  return { tooLarge, end: () => stop() };
}

const PAUSE_MS = 1000;
