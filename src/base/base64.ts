export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes base64; undefined if the text is not base64. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || !BASE64.test(text)) return undefined;
  return new Uint8Array(Buffer.from(text, 'base64'));
}

/** Freezes an object whose JSON form encodes `data` as base64. A structured clone loses this method. */
export function withBase64Json<T extends object>(value: T): Readonly<T> {
  // Not enumerable, so it is not compared, copied or shown.
  Object.defineProperty(value, 'toJSON', { value: base64Json });
  return Object.freeze(value);
}

function base64Json(this: { readonly data?: unknown }): object {
  return this.data instanceof Uint8Array ? { ...this, data: toBase64(this.data) } : { ...this };
}
