/** Bytes at the start of a file that decide whether it is binary (D063). */
export const SNIFF_BYTES = 8192;

/**
 * True when the first bytes of a file hold a NUL or are no UTF-8. A character that is cut at the window's border,
 * and not at the file's end, is no sign of binary.
 */
export function looksBinary(head: Uint8Array): boolean {
  const window = head.subarray(0, SNIFF_BYTES);
  if (window.includes(0)) return true;
  return decodeText(window, { cut: head.length >= SNIFF_BYTES }) === undefined;
}

/** The text of a whole small file; undefined when it is binary. */
export function textOf(bytes: Uint8Array): string | undefined {
  return bytes.includes(0) ? undefined : decodeText(bytes);
}

/** The text of UTF-8 bytes, byte order mark included; undefined when they are none. `cut`: more bytes follow. */
export function decodeText(bytes: Uint8Array, options: { readonly cut?: boolean } = {}): string | undefined {
  try {
    if (options.cut !== true) return STRICT.decode(bytes);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
