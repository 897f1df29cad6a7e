import { describe, expect, it } from 'vitest';
import { drawTable } from './draw-table.js';

const head = ['TOOL', 'KIND', 'WHAT IT DOES'];
const rows = [
  ['read_file', 'file', 'Reads a file: as a whole, or a range of lines.'],
  ['説明', 'file', 'Wide.'],
];
const draw = (columns: number, top: readonly string[] | undefined = head): string =>
  drawTable({ ...(top.length === 0 ? {} : { head: top }), rows, columns });

describe('drawTable()', () => {
  it('has its columns under each other', () => {
    expect(draw(Number.POSITIVE_INFINITY)).toBe(
      [
        'TOOL       KIND  WHAT IT DOES',
        'read_file  file  Reads a file: as a whole, or a range of lines.',
        '説明       file  Wide.',
        '',
      ].join('\n'),
    );
  });

  it('continues under the last column if the terminal is too narrow', () => {
    expect(draw(42)).toBe(
      [
        'TOOL       KIND  WHAT IT DOES',
        'read_file  file  Reads a file: as a whole,',
        '                 or a range of lines.',
        '説明       file  Wide.',
        '',
      ].join('\n'),
    );
  });

  it('is a paragraph a row where nothing is left for the last column', () => {
    const lines = ['read_file', '  kind file', '  Reads a file: as a whole,', '  or a range of lines.'];
    expect(draw(28)).toBe([...lines, '説明', '  kind file', '  Wide.', ''].join('\n'));
    expect(draw(28, [])).toContain('read_file\n  file\n  Reads');
  });

  it('breaks a word only where it is longer than a line', () => {
    const name = 'x'.repeat(45);
    expect(drawTable({ rows: [['a', 'b', name]], columns: 26 })).toBe(
      ['a', '  b', `  ${'x'.repeat(24)}`, `  ${'x'.repeat(21)}`, ''].join('\n'),
    );
  });
});
