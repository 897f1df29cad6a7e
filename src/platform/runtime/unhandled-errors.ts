const STRAY = new Set<string | symbol>(['uncaughtException', 'unhandledRejection']);

/**
 * Calls `handle` for exceptions and rejections that no code caught. Where it answers true, no other handler gets them.
 * Where it answers false, they do exactly what they would do without us: end the process, or reach the host program's
 * own listeners, as its flags say. No listener could do either, so we stand in front of all listeners.
 * @returns stops listening.
 */
export function onUnhandledError(handle: (error: unknown) => boolean): () => void {
  const before = Object.getOwnPropertyDescriptor(process, 'emit');
  const { emit } = process;
  let listening = true;
  const emitUnlessHandled = (event: string | symbol, ...args: unknown[]): unknown =>
    (listening && STRAY.has(event) && handle(args[0])) || Reflect.apply(emit, process, [event, ...args]);
  Object.defineProperty(process, 'emit', { value: emitUnlessHandled, writable: true, configurable: true });
  return () => {
    listening = false;
    // Another handler may stand in front of this one by now: then this one only hands on what comes.
    if (Object.getOwnPropertyDescriptor(process, 'emit')?.value !== emitUnlessHandled) return;
    Reflect.deleteProperty(process, 'emit');
    if (before !== undefined) Object.defineProperty(process, 'emit', before);
  };
}
