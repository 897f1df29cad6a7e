/**
 * A function whose module is loaded with its first call, so a program that never calls it never loads it.
 * Later calls go straight to the function.
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
