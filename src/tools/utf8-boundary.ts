/** True for a byte that goes on a UTF-8 character rather than beginning one. */
export function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
