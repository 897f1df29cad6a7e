/**
 * The callbacks of each signal. Only one listener is added to a signal, because Node warns of a leak at the eleventh.
 */
const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when `signal` aborts, or immediately if it has already aborted. The returned function cancels this
 * and leaves no listener on the signal.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => {};
  }
  const callbacks = listeners.get(signal) ?? listen(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size > 0 || listeners.get(signal) !== callbacks) return;
    listeners.delete(signal);
    signal.removeEventListener('abort', callAll);
  };
}

function listen(signal: AbortSignal): Set<() => void> {
  const callbacks = new Set<() => void>();
  listeners.set(signal, callbacks);
  signal.addEventListener('abort', callAll, { once: true });
  return callbacks;
}

function callAll(this: AbortSignal): void {
  const callbacks = listeners.get(this);
  listeners.delete(this);
  for (const callback of [...(callbacks ?? [])]) callback();
}
