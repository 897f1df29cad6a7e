/**
 * A function whose module is loaded with its first call: what a program never asks for, it never waits for. Later calls
 * go straight to it.
 */
export function onFirstUse<A extends readonly unknown[], R>(
  load: () => Promise<(...args: A) => Promise<R>>,
): (...args: A) => Promise<R> {
  let loaded: ((...args: A) => Promise<R>) | undefined;
  const first = async (args: A): Promise<R> => {
    loaded = await load();
    return loaded(...args);
  };
  return (...args) => (loaded === undefined ? first(args) : loaded(...args));
}
