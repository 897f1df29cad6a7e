import { describe, expect, it } from 'vitest';
import { ROWS } from './rows.js';
import { findProgram } from './table.js';

describe('the table of programs', () => {
  const names = ROWS.trim()
    .split(/\n+(?! )/)
    .flatMap((row) => (row.split(/ {2}|\n/)[0] ?? '').split(' '));

  it('has one row a program, and every row can be read', () => {
    expect(names.length).toBeGreaterThan(400);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    for (const name of names) expect(findProgram(name), name).toBeDefined();
  });

  it('knows what is called by a version or a kind', () => {
    expect(findProgram('python3.12')).toBe(findProgram('python'));
    expect(findProgram('mkfs.ext4')).toBe(findProgram('mkfs'));
    expect(findProgram('nonesuch')).toBeUndefined();
  });
});
