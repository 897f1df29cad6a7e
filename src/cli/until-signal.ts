import type { CliContext } from './cli-context.js';

/**
 * Resolves with the first signal that asks the program to end.
 * @param again called with each later one, until `forget` is called
 */
export async function untilSignal(
  { stdio }: Pick<CliContext, 'stdio'>,
  again: () => void,
): Promise<{ readonly forget: () => void }> {
  let signals = 0;
  let stop = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const forget = stdio.onEndSignal(() => {
    if (signals++ > 0) again();
    stop();
  });
  await stopped;
  return { forget };
}
