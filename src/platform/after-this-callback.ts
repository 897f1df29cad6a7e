/** Resolves when everything is done that was to be done at once: a tick asked for by a microtask comes after all of them. */
export function afterThisCallback(): Promise<void> {
  return new Promise((resolve) => {
    queueMicrotask(() => process.nextTick(resolve));
  });
}
