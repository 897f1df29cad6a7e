/** A JSON Pointer (RFC 6901), empty for the whole document. */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${escapeSegment(String(key))}`).join('');
}

/** The value a pointer leads to in a JSON document, or undefined. */
export function followPointer(document: unknown, pointer: string): unknown {
  let at = document;
  for (const segment of pointer.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null) return undefined;
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!Object.hasOwn(at, key)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  return at;
}

/** A property's name as one segment of a pointer. */
export function escapeSegment(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
