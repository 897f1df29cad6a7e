import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { covers } from '../base/covers.js';
import type { Effect } from '../contract/effect.js';
import { conflicts, type PlacedEffect } from './conflicts.js';
import { settleEffects } from './settle-effects.js';
import { isSideEffecting, riskOfEffects } from './traits.js';

const path = fc.constantFrom('/r', '/r/a', '/r/a/b', '/r/ab', '/r/c');
const effect: fc.Arbitrary<Effect> = fc.oneof(
  fc.record({ kind: fc.constantFrom('read', 'write', 'delete'), path }),
  fc.record({ kind: fc.constant('run'), command: fc.string() }),
  fc.record({ kind: fc.constant('fetch'), url: fc.webUrl() }),
  fc.record({ kind: fc.constantFrom('ask', 'unknown') }),
) as fc.Arbitrary<Effect>;
const place = (one: Effect): PlacedEffect =>
  'path' in one ? { effect: one, at: one.path } : { effect: one };
const placed = fc.array(effect, { maxLength: 4 }).map((list) => list.map(place));

describe('settleEffects()', () => {
  it('gives a frozen copy of every effect, and nothing that is none of it', () => {
    fc.assert(
      fc.property(fc.array(effect), (list) => {
        const settled = settleEffects(list.map((one) => ({ ...one, extra: () => 1 })));
        expect(settled).toEqual(list);
        expect(Object.isFrozen(settled) && settled.every((one) => Object.isFrozen(one))).toBe(true);
      }),
    );
  });

  it('throws nothing but a TypeError, whatever it is given', () => {
    fc.assert(
      fc.property(fc.anything(), (given) => {
        try {
          settleEffects(given);
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
        }
      }),
    );
  });
});

describe('conflicts()', () => {
  it('is the same seen from both sides', () => {
    fc.assert(
      fc.property(placed, placed, (a, b) => {
        expect(conflicts(a, b, covers)).toBe(conflicts(b, a, covers));
      }),
    );
  });

  const read = (at: string): PlacedEffect => place({ kind: 'read', path: at });
  const write = (at: string): PlacedEffect => place({ kind: 'write', path: at });
  it.each([
    [[read('/r/a')], [read('/r/a')], false],
    [[read('/r/a')], [write('/r/a')], true],
    [[write('/r/a')], [write('/r/a/b')], true],
    [[write('/r/a')], [write('/r/ab')], false],
    [[read('/r')], [write('/r/a/b')], true],
    [[place({ kind: 'run', command: 'ls' })], [read('/r/a')], true],
    [[place({ kind: 'unknown' })], [place({ kind: 'ask' })], true],
    [[place({ kind: 'unknown' })], [], false],
    [[place({ kind: 'ask' })], [place({ kind: 'ask' })], true],
    [[place({ kind: 'ask' })], [write('/r/a')], false],
    [[place({ kind: 'fetch', url: 'https://x' })], [write('/r/a')], false],
  ])('%j and %j: %s', (a, b, expected) => {
    expect(conflicts(a, b, covers)).toBe(expected);
  });
});

describe('traits', () => {
  it('never get milder by one effect more', () => {
    const order = ['low', 'medium', 'high'];
    fc.assert(
      fc.property(fc.array(effect), effect, (list, more) => {
        const [before, after] = [riskOfEffects(list), riskOfEffects([...list, more])];
        expect(order.indexOf(after)).toBeGreaterThanOrEqual(order.indexOf(before));
        if (isSideEffecting(list)) expect(isSideEffecting([...list, more])).toBe(true);
      }),
    );
  });
});
