import { foldCode } from './fold-text.js';

/** Ways to make two texts equal that a person would call the same, each with the name of the difference. */
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

/** In what two texts differ that are equal once folded, in words. */
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

/** How much differs, roughly: enough to see whether levelling has helped. */
function difference(a: string, b: string): number {
  const [left, right] = [a.split('\n'), b.split('\n')];
  let sum = 100 * Math.abs(left.length - right.length);
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    sum += differenceOfLines(left[at] ?? '', right[at] ?? '');
  }
  return sum;
}

/** Characters between what is equal at the beginning and what is equal at the end. */
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
