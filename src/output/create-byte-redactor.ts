import { createRedactor } from './create-redactor.js';

export interface ByteRedactor {
  /** Gives what can be handed on by now: what may be the beginning of a value waits. */
  push(bytes: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

/**
 * Hides exact values in bytes of any kind, also where a value is cut between two pieces: for what is kept as it came,
 * programs and pictures too. Bytes without any are handed on as they are.
 */
export function createByteRedactor(values: readonly string[]): ByteRedactor {
  // Most programs have nothing to hide, and much to say.
  if (values.length === 0) return { push: (bytes) => bytes, end: () => new Uint8Array() };
  // One character a byte: whatever the bytes are, they come out of it again.
  const redactor = createRedactor(values.map((value) => toCharacters(Buffer.from(value, 'utf8'))));
  return {
    push(bytes) {
      const text = toCharacters(bytes);
      const shown = redactor.push(text);
      return shown === text ? bytes : Buffer.from(shown, 'latin1');
    },
    end: () => Buffer.from(redactor.end(), 'latin1'),
  };
}

function toCharacters(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
