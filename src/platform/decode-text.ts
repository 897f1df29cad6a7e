import { ReadFailure } from './read-failure.js';

/**
 * Bytes as text, strictly: nothing is replaced. A byte order mark is left out, unless it is to be kept.
 * @throws ReadFailure when it is no text: binary, or in another encoding.
 */
export function decodeText(bytes: Uint8Array, keepMark = false): string {
  if (isUtf16(bytes)) throw new ReadFailure('it is UTF-16.', 'Save it as UTF-8.');
  if (bytes.includes(0)) throw new ReadFailure('it is binary.', 'Send text in UTF-8.');
  return decodeUtf8(bytes, keepMark);
}

// What PowerShell writes when output is redirected to a file.
function isUtf16(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

function decodeUtf8(bytes: Uint8Array, ignoreBOM: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM }).decode(bytes);
  } catch (error) {
    throw new ReadFailure('it is not UTF-8.', 'Save it as UTF-8.', error);
  }
}
