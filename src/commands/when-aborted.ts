/** `happened` resolves when the signal aborts; `forget` takes the listener back. */
export function whenAborted(signal: AbortSignal): { happened: Promise<void>; forget(): void } {
  let forget = () => {};
  const happened = new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    const listener = () => resolve();
    signal.addEventListener('abort', listener, { once: true });
    forget = () => signal.removeEventListener('abort', listener);
  });
  return { happened, forget };
}
