/** Bytes at the start, and at the end, that are looked at. */
const SAMPLE = 8192;
/** Of the sample: more of it is in no text. Names that are separated by NUL stay well below. */
const MOST_STRANGE = 0.3;
const FEW_BYTES = 16;

/**
 * Whether bytes are no text of any kind: programs, pictures, archives, UTF-16. A stray byte in a log, or names that
 * end with NUL (`find -print0`), do not make them so.
 */
export function looksBinary(bytes: Uint8Array): boolean {
  if (bytes.length < FEW_BYTES) return false;
  return (
    isStrange(bytes.subarray(0, SAMPLE)) || isStrange(bytes.subarray(Math.max(0, bytes.length - SAMPLE)))
  );
}

function isStrange(sample: Uint8Array): boolean {
  let strange = 0;
  for (let at = 0; at < sample.length; ) {
    const length = characterLength(sample, at);
    if (length === 0 || (length === 1 && isControl(sample[at] ?? 0))) strange++;
    at += Math.max(1, length);
  }
  return strange / sample.length > MOST_STRANGE;
}

/** Bytes of the character that starts here; 0 where none does. One that is cut off at the end counts. */
function characterLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const length =
    lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
  for (let next = 1; next < length && at + next < bytes.length; next++) {
    if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return length;
}

/** Those that no text is written with; colours and tabs are. */
function isControl(byte: number): boolean {
  return (byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b) || byte === 0x7f;
}
