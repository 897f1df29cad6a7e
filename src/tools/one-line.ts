/** A text as one line: a line break in it cannot pass for a further entry of a list. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
