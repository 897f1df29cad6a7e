import { type MachineLock, takeMachineLock } from '../../platform/process/machine-lock.js';

/**
 * Waits until no other transaction commits in these roots. Others wait until it is released, or until a time limit has passed:
 * a long turn does not stop them.
 * @param roots none of them inside another
 */
export async function takeCommitTurn(roots: readonly string[]): Promise<MachineLock> {
  const locks: MachineLock[] = [];
  const release = (): void => {
    for (const lock of locks.splice(0).reverse()) lock.release();
  };
  // Always in this order: two that want several roots do not wait for each other.
  for (const root of [...roots].sort()) locks.push(await takeMachineLock(`commit ${root}`, LOCK_MS));
  return { hasWaited: locks.some(({ hasWaited }) => hasWaited), release };
}

/** A commit takes milliseconds; one of ten thousand files a second or two. */
const LOCK_MS = 15_000;
