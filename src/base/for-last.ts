/** Remembers the value of the last key: the paths of one directory are mostly asked about one after the other. */
export function forLast<Value>(find: (key: string) => Value): (key: string) => Value {
  let last: { readonly key: string; readonly value: Value } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: find(key) };
    return last.value;
  };
}
