import type { Palette } from './draw-picture.js';
import { toWords, widthOf } from './visible-text.js';

export interface Table {
  readonly head?: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The terminal's width; Infinity: no line is wrapped. */
  readonly columns: number;
  readonly palette?: Pick<Palette, 'dim'>;
}

const GAP = '  ';
/** With less room than this, a text in the last column would be unreadably narrow. */
const LEAST_ROOM = 24;

/**
 * Draws rows with aligned columns. If the terminal is too narrow, the last column wraps below itself; if that
 * leaves too little room, each row becomes a paragraph: the first cell, then the others with their headings.
 */
export function drawTable({ head, rows, columns, palette }: Table): string {
  const widths: number[] = [];
  for (const row of head === undefined ? rows : [head, ...rows]) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOfCell(cell));
  }
  const last = widths.pop() ?? 0;
  const before = widths.reduce((sum, width) => sum + width + GAP.length, 0);
  const room = columns - before;
  if (room < Math.min(last, LEAST_ROOM)) {
    return rows.map((row) => drawParagraph(row, head, columns)).join('');
  }
  const draw = (row: readonly string[]): string =>
    row
      .slice(0, -1)
      .map((cell, at) => `${cell}${' '.repeat((widths[at] ?? 0) - widthOfCell(cell))}${GAP}`)
      .join('') + toLines(row.at(-1) ?? '', room).join(`\n${' '.repeat(before)}`);
  const top = head === undefined ? [] : [draw(head).trimEnd()].map((line) => palette?.dim(line) ?? line);
  return [...top, ...rows.map((row) => draw(row).trimEnd())].map((line) => `${line}\n`).join('');
}

function drawParagraph(row: readonly string[], head: readonly string[] | undefined, columns: number): string {
  const [first = '', ...others] = row;
  const last = others.pop() ?? '';
  const indent = `${/^ */.exec(first)?.[0] ?? ''}${GAP}`;
  const named = others.flatMap((cell, at) =>
    cell === '' ? [] : [`${head === undefined ? '' : `${head[at + 1]?.toLowerCase()} `}${cell}`],
  );
  const below = [named.join(' · '), last].filter((text) => text !== '');
  const lines = below.flatMap((text) => toLines(text, columns - indent.length));
  return [first, ...lines.map((line) => `${indent}${line}`)].map((line) => `${line.trimEnd()}\n`).join('');
}

/** Colours take no width. */
function widthOfCell(cell: string): number {
  return widthOf(cell.replaceAll(/\u001b\[[0-9]+m/g, ''));
}

function toLines(text: string, columns: number): readonly string[] {
  return toWords(text, columns).map((line, at) => (at === 0 ? line : line.trimStart()).trimEnd());
}
