import { AsyncLocalStorage } from 'node:async_hooks';

/** Tells of errors that nobody caught; answered true, they go no further. The returned function stops it. */
export type OnStrayError = (handle: (error: unknown) => boolean) => () => void;

/** Somebody who answers for errors that escape through timers and floating promises. */
export interface StrayErrorOwner {
  strayError(error: unknown): void;
}

const owners = new AsyncLocalStorage<StrayErrorOwner | undefined>();
let watching = false;

/**
 * Runs a tool so that what it throws from a timer, or rejects without anybody waiting, reaches `owner` and does not
 * end the process. Errors of the host program itself still do (D055–D057).
 */
export function ownStrayErrors<A extends unknown[], T>(
  owner: StrayErrorOwner,
  run: (...args: A) => T,
  ...args: A
): T {
  return owners.run(owner, run, ...args);
}

/** Runs what is not a tool's doing, wherever it is called from: what it throws is nobody's. */
export function disown<A extends unknown[], T>(run: (...args: A) => T, ...args: A): T {
  return owners.run(undefined, run, ...args);
}

/**
 * Watches from now on. For ever, because what a tool left behind may throw long after its executor was closed; nobody
 * but tools is ever affected.
 */
export function watchStrayErrors(onStrayError: OnStrayError): void {
  if (watching) return;
  watching = true;
  onStrayError((error) => {
    const owner = owners.getStore();
    owner?.strayError(error);
    return owner !== undefined;
  });
}
