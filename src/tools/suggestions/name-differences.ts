/** Ways to unify similar texts, each with the name of the difference. */
const LEVELLERS: readonly (readonly [name: string, level: (text: string) => string])[] = [
  ['line endings', (text) => text.replaceAll('\r\n', '\n')],
  ['quotes, dashes or other look-alike characters', foldPunctuation],
  ['trailing white space', (text) => eachLine(text, (line) => line.trimEnd())],
  ['indentation', (text) => eachLine(text, (line) => line.trimStart())],
  [
    'blank lines',
    (text) =>
      text
        .split('\n')
        .filter((line) => line.trim() !== '')
        .join('\n'),
  ],
  ['spacing within lines', (text) => eachLine(text, (line) => line.replace(/[^\S\n]+/g, ''))],
  ['line breaks', (text) => text.replace(/\s+/g, '')],
];

/** Names the differences of two texts that are equal after folding. */
export function nameDifferences(a: string, b: string): string {
  const needed: string[] = [];
  let [left, right] = [a, b];
  for (const [name, level] of LEVELLERS) {
    if (left === right) break;
    const [levelledLeft, levelledRight] = [level(left), level(right)];
    if (difference(levelledLeft, levelledRight) < difference(left, right)) needed.push(name);
    left = levelledLeft;
    right = levelledRight;
  }
  return needed.length === 0 ? 'white space' : needed.join(' and ');
}

/** A rough measure of the difference, enough to see whether a way helped. */
function difference(a: string, b: string): number {
  const [left, right] = [a.split('\n'), b.split('\n')];
  let sum = 100 * Math.abs(left.length - right.length);
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    sum += differenceOfLines(left[at] ?? '', right[at] ?? '');
  }
  return sum;
}

/** The number of characters between the common start and the common end. */
function differenceOfLines(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let [start, end] = [0, 0];
  while (start < shorter && a[start] === b[start]) start++;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return Math.max(a.length, b.length) - start - end;
}

function eachLine(text: string, change: (line: string) => string): string {
  return text.split('\n').map(change).join('\n');
}

function foldPunctuation(text: string): string {
  return text.replace(/[^\x00-\x7f]/g, (char) => String.fromCharCode(foldCode(char.charCodeAt(0))));
}

/** A text without common mistakes: no white space and invisible characters, lookalikes unified. */
interface FoldedText {
  readonly text: string;
  /** The position of each character of `text` in the original. */
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

/** The plain character that a non-ASCII one resembles; a blank for invisible ones. */
function foldCode(code: number): number {
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
