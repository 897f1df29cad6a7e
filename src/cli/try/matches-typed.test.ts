import { describe, expect, it } from 'vitest';
import { matchesTyped } from './matches-typed.js';

describe('matchesTyped()', () => {
  it.each([
    ['a.txt', 'a.txt', true],
    ['./a.txt', 'a.txt', true],
    ['a.txt', 'b/a.txt', false],
    ['a?txt', 'a.txt', true],
    ['*.txt', 'a.txt', true],
    ['*.txt', 'b/a.txt', false],
    ['**/*.txt', 'b/c/a.txt', true],
    ['**/*.txt', 'a.txt', true],
    ['b/**', 'b/c/a', true],
    ['d', 'd/', true],
    ['a.b', 'axb', false],
    ['a+(b)', 'a+(b)', true],
  ])('%s and %s: %s', (pattern, path, matches) => {
    expect(matchesTyped(pattern, path)).toBe(matches);
  });
});
