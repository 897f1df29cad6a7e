import { describe, expect, it } from 'vitest';
import { covers } from './covers.js';

describe('covers', () => {
  it.each([
    ['/a/b', '/a/b', true],
    ['/a/b', '/a/b/c/d', true],
    ['/', '/a', true],
    ['/', '/', true],
    ['/a/b', '/a/bc', false],
    ['/a/b', '/a', false],
    ['/a/b', '/x/a/b', false],
    ['/a/b/', '/a/b/c', true],
  ])('%s and %s: %s', (effectPath, path, expected) => {
    expect(covers(effectPath, path)).toBe(expected);
  });
});
