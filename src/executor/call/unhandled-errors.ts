import { AsyncLocalStorage } from 'node:async_hooks';

/** Reports errors that escaped every handler; answered true, an error goes no further. The returned function stops it. */
export type OnUnhandledError = (handle: (error: unknown) => boolean) => () => void;

/** What code that runs for a call belongs to: found again in every timer and promise that the code leaves behind. */
export interface CallScope {
  /** Takes errors that escape through timers and floating promises. Left out: they are the host program's own. */
  unhandledError?(error: unknown): void;
  /** The queue in which the call has its turn: calls that it makes itself do not wait behind it there. */
  readonly queue?: object | undefined;
}

const scopes = new AsyncLocalStorage<CallScope | undefined>();
let watching = false;

/**
 * Runs a tool so that what it throws from a timer, or rejects without a handler, reaches its call and does not end the
 * process. Errors of the host program itself still do (D055–D057).
 */
export function runInScope<A extends unknown[], T>(
  scope: CallScope | undefined,
  run: (...args: A) => T,
  ...args: A
): T {
  return scopes.run(scope, run, ...args);
}

/** The call that the running code belongs to; undefined in the host program's own code. */
export function currentScope(): CallScope | undefined {
  return scopes.getStore();
}

/** Starts watching, for the life of the process: a tool may throw long after its executor was closed. */
export function watchUnhandledErrors(onUnhandledError: OnUnhandledError): void {
  if (watching) return;
  watching = true;
  onUnhandledError((error) => {
    const scope = scopes.getStore();
    if (scope?.unhandledError === undefined) return false;
    scope.unhandledError(error);
    return true;
  });
}
