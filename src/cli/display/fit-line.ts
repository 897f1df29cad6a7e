import type { ToolResult } from '../../contract/call.js';
import { sanitize } from '../../output/sanitize.js';
import { toPieces, toWords, widthOf } from '../../terminal/visible-text.js';
import { cut, describeResult } from './describe-call.js';
import type { Palette } from './terminal-text.js';

/** How much of a program's output line is read. */
const LONGEST = 2000;

/** A line as a terminal would show it: a progress bar returns to its start again and again. */
export function asLeft(line: string): string {
  const left = line.replace(/\r+$/, '').split('\r').at(-1) ?? '';
  return sanitize(left.slice(-LONGEST), 'inline').trimEnd();
}

/** The prefix that fits, with an ellipsis if it was cut. */
export function cutToWidth(text: string, columns: number): string {
  const [first = '', ...rest] = toPieces(text, columns);
  if (rest.length === 0) return first;
  const [shorter = ''] = toPieces(first, columns - 1);
  return `${shorter}…`;
}

/** The width of a line; colours take none. */
export function visibleWidth(line: string): number {
  return widthOf(line.replaceAll(/\u001b\[[0-9]+m/g, ''));
}

/** Wraps a long line between words; continued lines start with `hang`. */
export function foldLine(line: string, columns: number, hang = '  '): readonly string[] {
  if (visibleWidth(line) <= columns) return [line];
  const colours: string[] = [];
  // A colour is temporarily a mark without width, so it moves with its word.
  const marked = line.replaceAll(/\u001b\[[0-9]+m/g, (code) => {
    colours.push(code);
    return String.fromCodePoint(FIRST_MARK + colours.length - 1);
  });
  const [first = ''] = toWords(marked, columns);
  const below = toWords(marked.slice(first.length).trimStart(), columns - hang.length);
  return [first.trimEnd(), ...below.map((piece) => `${hang}${piece.trim()}`)].map((words) =>
    words.replaceAll(MARKS, (mark) => colours[(mark.codePointAt(0) ?? 0) - FIRST_MARK] ?? ''),
  );
}

/** Variation selectors: shown text contains none, and our lines have fewer colours. */
const FIRST_MARK = 0xe0100;
const MARKS = /[\u{e0100}-\u{e01ef}]/gu;

const LEAST_SUMMARY = 20;

/** The end of a call, with as much of its purpose as fits. The reason of a failure is never cut. */
export function describeWithin(
  columns: number,
  result: ToolResult,
  summary: string,
  palette: Palette,
): string {
  const { error: _, ...bare } = result;
  const room = columns - visibleWidth(describeResult({ ...bare, success: true }, palette)) - 3;
  return describeResult(result, palette, cut(summary, Math.max(LEAST_SUMMARY, room)));
}

/** How many of the last output lines of a failed call are shown. */
export const SHOWN_LINES = 5;

/** The end of the output explains a failure. The bar at the start distinguishes it from our own lines. */
export function drawTail(printed: readonly string[], columns: number, palette: Palette): readonly string[] {
  const lines = printed.map(asLeft).filter((line) => line !== '');
  return lines.slice(-SHOWN_LINES).map((line) => palette.dim(cutToWidth(`  │ ${line}`, columns)));
}
