import { type MachineLock, takeMachineLock } from '../../platform/process/machine-lock.js';

/**
 * Waits until no other transaction commits in these roots. Others wait until the lock is released or their
 * time limit is over, so a long turn does not block them for ever.
 * @param roots none of them inside another
 */
export async function takeCommitTurn(roots: readonly string[]): Promise<MachineLock> {
  const locks: MachineLock[] = [];
  const release = (): void => {
    for (const lock of locks.splice(0).reverse()) lock.release();
  };
  // Always in this order, so that two transactions with several roots never wait for each other.
  for (const root of [...roots].sort()) locks.push(await takeMachineLock(`commit ${root}`, LOCK_MS));
  return { hasWaited: locks.some(({ hasWaited }) => hasWaited), release };
}

/** A commit takes milliseconds; one of ten thousand files takes a second or two. */
const LOCK_MS = 15_000;
