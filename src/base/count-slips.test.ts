import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countSlips } from './count-slips.js';

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
