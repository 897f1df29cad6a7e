const STRAY = new Set<string | symbol>(['uncaughtException', 'unhandledRejection']);

/**
 * Calls `handle` for exceptions and rejections that no code has caught. If it returns true, no other handler
 * gets the error. If it returns false, the error does exactly what it would do without this function: it ends
 * the process, or reaches the host program's own listeners, depending on Node's flags. A listener could do
 * neither, so `process.emit` is replaced.
 * @returns a function that ends this.
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
    // Other code may have replaced `emit` after this: then this handler only passes events on.
    if (Object.getOwnPropertyDescriptor(process, 'emit')?.value !== emitUnlessHandled) return;
    Reflect.deleteProperty(process, 'emit');
    if (before !== undefined) Object.defineProperty(process, 'emit', before);
  };
}
