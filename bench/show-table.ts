import { isMet, type Row, type Unit } from './row.js';

const HEADINGS = ['', 'ours', 'processor', 'beside', '', 'ratio', 'goal', ''];
/** Columns of figures are flush right. */
const FIGURES = new Set([1, 2, 4, 5]);

/** Rows as a table for a terminal. */
export function showTable(rows: readonly Row[]): string {
  const lines = [HEADINGS, ...rows.map(toCells)];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((cells) => (cells[column] ?? '').length)));
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => pad(cell, column, widths))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function pad(cell: string, column: number, widths: readonly number[]): string {
  const width = widths[column] ?? 0;
  return FIGURES.has(column) ? cell.padStart(width) : cell.padEnd(width);
}

function toCells(row: Row): string[] {
  const { what, unit, ours, cpu, beside } = row;
  const cells = [what, figure(ours, unit), figure(cpu, unit)];
  if (beside === undefined) cells.push('', '', '');
  else if ('skipped' in beside) cells.push(beside.name, `skipped: ${beside.skipped}`, '');
  else cells.push(beside.name, figure(beside.value, unit), ratio(beside.ratio));
  return [...cells, showGoal(row), showVerdict(row)];
}

function showGoal({ goal, unit }: Row): string {
  switch (goal?.of) {
    case undefined:
      return '';
    case 'ours':
      return goal.whereBesideIs === undefined
        ? `≤ ${goal.atMost} ${unit}`
        : `≤ ${goal.atMost} ${unit}, or ${ratio(goal.atMost / goal.whereBesideIs)} ×`;
    case 'ratio':
      return `ratio ≤ ${goal.atMost}`;
    case 'difference':
      return `≤ ${goal.atMost} ${unit} on top`;
  }
}

function showVerdict(row: Row): string {
  const met = isMet(row);
  if (met === undefined) return '';
  return met ? 'met' : 'not met';
}

function figure(value: number | undefined, unit: Unit): string {
  if (value === undefined) return '';
  if (unit === 'bytes') return `${Math.round(value)} bytes`;
  return `${value < 1 ? value.toPrecision(2) : value < 100 ? value.toFixed(2) : value.toFixed(0)} ${unit}`;
}

function ratio(value: number): string {
  return value < 10 ? value.toFixed(2) : value.toFixed(0);
}
