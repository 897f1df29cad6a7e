const STRICT = new TextDecoder('utf-8', { fatal: true });

/** Decodes UTF-8; undefined if it is invalid. */
export function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return STRICT.decode(bytes);
  } catch {
    return undefined;
  }
}
