/** UTF-8 bytes of `JSON.stringify(text)`, or -1 when the text holds a lone surrogate. */
export function jsonStringBytes(text: string): number {
  const { length } = text;
  let bytes = length + 2;
  for (let at = 0; at < length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) {
      if (unit < 0x20) bytes += hasShortEscape(unit) ? 1 : 5;
      else if (unit === 0x22 || unit === 0x5c) bytes += 1;
    } else if (unit < 0x800) {
      bytes += 1;
    } else if (unit < 0xd800 || unit > 0xdfff) {
      bytes += 2;
    } else {
      const next = text.charCodeAt(at + 1);
      // Past the end the next unit is NaN, which no comparison accepts.
      if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return -1;
      bytes += 2;
      at++;
    }
  }
  return bytes;
}

/** UTF-8 bytes of `JSON.stringify(value)` for a finite number. */
export function jsonNumberBytes(value: number): number {
  if (Number.isInteger(value) && value > -1_000_000 && value < 1_000_000) {
    const digits = value < 0 ? -value : value;
    const sign = value < 0 ? 1 : 0;
    if (digits < 10) return sign + 1;
    if (digits < 100) return sign + 2;
    if (digits < 1_000) return sign + 3;
    if (digits < 10_000) return sign + 4;
    return sign + (digits < 100_000 ? 5 : 6);
  }
  return String(value).length;
}

/** \b \t \n \f \r; the other controls are written \u00XX. */
function hasShortEscape(unit: number): boolean {
  return unit === 0x0a || unit === 0x0d || unit === 0x09 || unit === 0x08 || unit === 0x0c;
}
