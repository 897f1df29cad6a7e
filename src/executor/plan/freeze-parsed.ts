/**
 * Copies and freezes the value that a schema made from the arguments, so that no callback of the tool can
 * change the value for a later one. Instances of classes (a Date, a URL from a transform) belong to the
 * schema and are passed on unchanged.
 */
export function freezeParsed(parsed: unknown): unknown {
  return copy(parsed, new Map());
}

function copy(value: unknown, known: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const earlier = known.get(value);
  if (earlier !== undefined) return earlier;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    known.set(value, items);
    for (const item of value) items.push(copy(item, known));
    return Object.freeze(items);
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const properties: object = Object.create(prototype);
  known.set(value, properties);
  for (const [name, item] of Object.entries(value)) {
    // Defined, not assigned: here `__proto__` is a name like any other.
    Object.defineProperty(properties, name, { value: copy(item, known), enumerable: true });
  }
  return Object.freeze(properties);
}
