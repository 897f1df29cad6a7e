import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Calls `handle` with each error that escaped all handlers. If `handle` returns true, the error goes no
 * further. The returned function stops the reporting.
 */
export type OnUnhandledError = (handle: (error: unknown) => boolean) => () => void;

/**
 * The call to which running code belongs. Every timer and promise that the code creates finds this scope
 * again.
 */
export interface CallScope {
  /**
   * Receives errors that escape through timers and floating promises. If absent: those errors belong to the
   * host program.
   */
  unhandledError?(error: unknown): void;
  /**
   * The queue in which the call takes its turn. Calls that this call makes itself do not wait behind it in
   * that queue.
   */
  readonly queue?: object | undefined;
}

const scopes = new AsyncLocalStorage<CallScope | undefined>();
let watching = false;

/**
 * Runs a tool so that an error from its timer, or an unhandled rejection, reaches its call and does not end
 * the process. Errors of the host program itself still end it (D055–D057).
 */
export function runInScope<A extends unknown[], T>(
  scope: CallScope | undefined,
  run: (...args: A) => T,
  ...args: A
): T {
  return scopes.run(scope, run, ...args);
}

/** The call to which the running code belongs; undefined in the host program's own code. */
export function currentScope(): CallScope | undefined {
  return scopes.getStore();
}

/**
 * Starts watching for unhandled errors, for the rest of the process: a tool may throw long after its executor
 * was closed.
 */
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
