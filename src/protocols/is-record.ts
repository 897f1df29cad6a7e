/** Narrows to an object that may be asked for keys. */
export function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text that names something; undefined for anything else. */
export function toName(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The elements that are objects, of what may be no array at all. */
export function toRecords(value: unknown): readonly { readonly [key: string]: unknown }[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
