/**
 * Bytes as text of as many characters: what is no UTF-8 survives being taken apart and put together, and lines are
 * compared byte by byte.
 */
export type ByteText = string;

export function toByteText(text: string): ByteText {
  return NOT_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

export function fromByteText(bytes: ByteText): string {
  return NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}

const NOT_ASCII = /[^\x00-\x7f]/;
