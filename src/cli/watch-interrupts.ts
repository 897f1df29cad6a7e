import type { Stdio } from '../platform/runtime/stdio.js';

/**
 * Ctrl-C once cancels, twice ends immediately. SIGTERM and SIGHUP count like Ctrl-C, because a command would
 * outlive its parent.
 * @returns whether it happened, and a function to stop watching.
 */
export function watchInterrupts(
  stdio: Stdio,
  handle: { readonly first: () => void; readonly second: () => void },
): { readonly happened: () => boolean; readonly stop: () => void } {
  let count = 0;
  const stop = stdio.onEndSignal(() => {
    count++;
    if (count === 1) handle.first();
    else handle.second();
  });
  return { happened: () => count > 0, stop };
}
