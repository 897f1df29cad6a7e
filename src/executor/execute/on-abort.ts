/** Whom to tell for each signal. One listener a signal, because Node warns of a leak at the eleventh. */
const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls back once when `signal` aborts. The returned function takes that back, and leaves nothing on the signal. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const told = listeners.get(signal) ?? listen(signal);
  told.add(callback);
  return () => {
    told.delete(callback);
    if (told.size > 0 || listeners.get(signal) !== told) return;
    listeners.delete(signal);
    signal.removeEventListener('abort', tell);
  };
}

function listen(signal: AbortSignal): Set<() => void> {
  const told = new Set<() => void>();
  listeners.set(signal, told);
  signal.addEventListener('abort', tell, { once: true });
  return told;
}

function tell(this: AbortSignal): void {
  const told = listeners.get(this);
  listeners.delete(this);
  for (const callback of [...(told ?? [])]) callback();
}
