/** Where the last character of `bytes` ends that is there in full. */
export function endOfCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    return lengthByLead(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Where the first character of `bytes` starts: behind what is left of one that was cut. */
export function startOfCharacters(bytes: Uint8Array): number {
  for (let at = 0; at <= Math.min(3, bytes.length - 1); at++) {
    if (!isContinuation(bytes[at] ?? 0)) return at;
  }
  // Four in a row are in no character: this is not UTF-8, so nothing was cut.
  return bytes.length <= 3 ? bytes.length : 0;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function lengthByLead(byte: number): number {
  if (byte >= 0xf0) return byte <= 0xf4 ? 4 : 1;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc2 ? 2 : 1;
}
