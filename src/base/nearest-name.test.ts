import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countSlips, nearestName } from './nearest-name.js';

describe('nearestName()', () => {
  it.each([
    ['pth', ['mode', 'path'], 'path'],
    ['creat', ['create', 'overwrite', 'append'], 'create'],
    ['raed_file', ['write_file', 'read_file'], 'read_file'],
    ['contnets', ['path', 'contents'], 'contents'],
    ['tset', ['list', 'test'], 'test'],
  ])('finds the typing slip in %s', (name, candidates, expected) => {
    expect(nearestName(name, candidates)).toBe(expected);
  });

  it.each([
    ['readFile', 'read_file'],
    ['READ-FILE', 'read_file'],
    ['startline', 'start_line'],
    ['oldString', 'old_string'],
  ])('folds case, underscores and hyphens: %s', (name, expected) => {
    expect(nearestName(name, ['path', 'read_files', expected])).toBe(expected);
  });

  it('prefers the same spelling over a nearer-looking earlier candidate', () => {
    expect(nearestName('a_b_c', ['a_b_d', 'ABC'])).toBe('ABC');
  });

  it('takes the only candidate that shares the words', () => {
    expect(nearestName('file_path', ['path', 'content'])).toBe('path');
    expect(nearestName('filePath', ['path', 'content'])).toBe('path');
    expect(nearestName('search', ['web_search', 'web_fetch'])).toBe('web_search');
    expect(nearestName('web', ['web_search', 'web_fetch'])).toBeUndefined();
  });

  it.each([
    ['a', ['b']],
    ['x', ['y', 'z']],
    ['', ['a', 'path']],
    ['elephant', ['read_file', 'bash']],
    ['path', ['path']],
    ['___', ['---']],
  ])('suggests nothing for %s among %s', (name, candidates) => {
    expect(nearestName(name, candidates)).toBeUndefined();
  });

  it('gives a tie to the earlier candidate', () => {
    expect(nearestName('cot', ['cat', 'cut'])).toBe('cat');
    expect(nearestName('cot', ['cut', 'cat'])).toBe('cut');
  });

  it('answers quickly for hostile names and many candidates', () => {
    const candidates = Array.from({ length: 100_000 }, (_, at) => `candidate_number_${at}`);
    const started = performance.now();
    expect(nearestName('a'.repeat(5_000_000), candidates)).toBeUndefined();
    expect(nearestName('aA'.repeat(5_000), ['b'.repeat(10_000)])).toBeUndefined();
    nearestName(
      'c'.repeat(80),
      Array.from({ length: 100_000 }, () => 'd'.repeat(79)),
    );
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('finds every name again after one swapped pair of letters', () => {
    const word = fc.stringMatching(/^[a-z]{4,20}$/);
    fc.assert(
      fc.property(word, fc.nat(), (name, place) => {
        const at = place % (name.length - 1);
        const swapped = name.slice(0, at) + name.charAt(at + 1) + name.charAt(at) + name.slice(at + 2);
        fc.pre(swapped !== name);
        expect(nearestName(swapped, ['zzzzzzzzzzzzzzzzzzzzzzzzzzzz', name])).toBe(name);
      }),
    );
  });
});

describe('countSlips()', () => {
  it.each([
    ['', '', 0],
    ['', 'abc', 3],
    ['path', 'path', 0],
    ['pth', 'path', 1],
    ['paths', 'path', 1],
    ['pith', 'path', 1],
    ['ptah', 'path', 1],
    ['kitten', 'sitting', 3],
    ['ca', 'abc', 3],
  ])('%s to %s takes %i', (from, to, slips) => {
    expect(countSlips(from, to)).toBe(slips);
  });

  it('is the same in both directions and never more than the longer length', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (from, to) => {
        const slips = countSlips(from, to);
        expect(countSlips(to, from)).toBe(slips);
        expect(slips).toBeLessThanOrEqual(Math.max(from.length, to.length));
        expect(slips === 0).toBe(from === to);
      }),
    );
  });
});
