/** Narrows to an object that may be asked for keys. */
export function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The elements that are objects, of what may be no array at all. */
export function toRecords(value: unknown): readonly { readonly [key: string]: unknown }[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
