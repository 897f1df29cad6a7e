/** A text without what is easily got wrong: white space and invisible characters gone, look-alikes made one. */
export interface FoldedText {
  readonly text: string;
  /** Where each character of `text` stood in the original. */
  readonly positions: Int32Array;
}

export function foldText(text: string): FoldedText {
  const codes = new Uint16Array(text.length);
  const positions = new Int32Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const folded = code < 0x80 ? code : foldCode(code);
    if (folded <= 0x20) continue;
    codes[length] = folded;
    positions[length++] = at;
  }
  const bytes = Buffer.from(codes.buffer, 0, length * 2);
  return { text: bytes.toString('utf16le'), positions: positions.subarray(0, length) };
}

/** The plain character that one outside ASCII is taken for; a blank for what cannot be seen. */
export function foldCode(code: number): number {
  if (code === 0xa0 || code === 0xad || code === 0xfeff || code === 0x3000) return BLANK;
  if (code < 0x2000 || code > 0x2212) return code;
  if (code <= 0x200f || code === 0x202f || code === 0x205f || code === 0x2060) return BLANK;
  if (code <= 0x2015 || code === 0x2212)
    return code >= 0x2010 && (code <= 0x2015 || code === 0x2212) ? DASH : code;
  if (code >= 0x2018 && code <= 0x201b) return QUOTE;
  return code >= 0x201c && code <= 0x201f ? DOUBLE_QUOTE : code;
}

const BLANK = 0x20;
const DASH = 0x2d;
const QUOTE = 0x27;
const DOUBLE_QUOTE = 0x22;
