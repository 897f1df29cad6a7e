const STRICT = new TextDecoder('utf-8', { fatal: true });

/** Bytes as text; undefined where they are no UTF-8. */
export function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return STRICT.decode(bytes);
  } catch {
    return undefined;
  }
}
