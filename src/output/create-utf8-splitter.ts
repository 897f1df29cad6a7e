export interface Utf8Splitter {
  /** The whole characters that are here by now; a view of the chunk where no copy was needed. */
  take(chunk: Uint8Array): Uint8Array;
  /** What is left of a character that never came to its end: U+FFFD, or nothing. */
  end(): string;
}

/**
 * Cuts bytes between UTF-8 characters, so that decoding each part gives the text of the whole, however the bytes came.
 * A character that is not finished waits for the rest.
 */
export function createUtf8Splitter(): Utf8Splitter {
  let unfinished: Uint8Array | undefined;
  return {
    take(chunk) {
      const bytes = unfinished === undefined ? chunk : Buffer.concat([unfinished, chunk]);
      const end = completeLength(bytes);
      // A copy: the caller may fill the same buffer again.
      unfinished = end === bytes.length ? undefined : Uint8Array.from(bytes.subarray(end));
      return end === bytes.length ? bytes : bytes.subarray(0, end);
    },
    end() {
      const rest = unfinished === undefined ? '' : toBuffer(unfinished).toString('utf8');
      unfinished = undefined;
      return rest;
    },
  };
}

/** A view as a Buffer, without copying. */
export function toBuffer(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

/** Where the last character begins if its bytes are not all here, else the length. */
function completeLength(bytes: Uint8Array): number {
  const length = bytes.length;
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back] ?? 0;
    if (byte < 0x80) return length;
    if (byte >= 0xc0) return bytesOf(byte) > back ? length - back : length;
  }
  return length;
}

function bytesOf(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}
