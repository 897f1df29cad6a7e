import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { covers } from '../base/covers.js';
import type { Effect } from '../contract/effect.js';
import { conflicts, type PlacedEffect } from './conflicts.js';
import { annotationsOf } from './effect-kinds.js';
import { parseEffects } from './parse-effects.js';
import { isSideEffecting, riskOfEffects } from './traits.js';

const path = fc.constantFrom('/r', '/r/a', '/r/a/b', '/r/ab', '/r/c');
const effect: fc.Arbitrary<Effect> = fc.oneof(
  fc.record({ kind: fc.constantFrom('read', 'write', 'delete'), path }),
  fc.record({ kind: fc.constant('run'), command: fc.string(), shell: fc.constantFrom('sh', 'bash') }),
  fc.record({ kind: fc.constant('process'), id: fc.constantFrom('a', 'b') }),
  fc.record({ kind: fc.constant('process'), id: fc.constantFrom('a', 'b'), access: fc.constant('read') }),
  fc.record({
    kind: fc.constant('call'),
    server: fc.constantFrom('a', 'b'),
    tool: fc.string(),
    access: fc.constantFrom('read', 'write', 'destroy'),
  }),
  fc.record({ kind: fc.constant('fetch'), url: fc.webUrl() }),
  fc.record({ kind: fc.constantFrom('ask', 'unknown') }),
) as fc.Arbitrary<Effect>;
const place = (one: Effect): PlacedEffect =>
  'path' in one ? { effect: one, at: one.path } : { effect: one };
const placed = fc.array(effect, { maxLength: 4 }).map((list) => list.map(place));

describe('parseEffects()', () => {
  it('returns a frozen copy of every effect, without unknown members', () => {
    fc.assert(
      fc.property(fc.array(effect), (list) => {
        const parsed = parseEffects(list.map((one) => ({ ...one, extra: () => 1 })));
        expect(parsed).toEqual(list);
        expect(Object.isFrozen(parsed) && parsed.every((one) => Object.isFrozen(one))).toBe(true);
      }),
    );
  });

  it('throws nothing but a TypeError, whatever it is given', () => {
    fc.assert(
      fc.property(fc.anything(), (given) => {
        try {
          parseEffects(given);
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
        }
      }),
    );
  });
});

describe('annotationsOf()', () => {
  const hints = (readOnly: boolean, destructive: boolean, idempotent: boolean, openWorld: boolean) => ({
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: idempotent,
    openWorldHint: openWorld,
  });
  it.each([
    [[], false, hints(true, false, true, false)],
    [['read', 'ask'], false, hints(true, false, true, false)],
    [['read', 'write'], false, hints(false, true, false, false)],
    [['write'], true, hints(false, true, true, false)],
    [['fetch'], false, hints(false, false, false, true)],
    // The access is unknown until the arguments are.
    [['call'], false, hints(false, true, false, true)],
    [['unknown'], false, hints(false, true, false, true)],
  ] as const)('of %j, idempotent %s, are the worst of all kinds', (touches, idempotent, expected) => {
    expect(annotationsOf(touches, idempotent)).toEqual(expected);
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
  const shell = (id: string): PlacedEffect => place({ kind: 'process', id, access: 'read' });
  const remote = (server: string, access: 'read' | 'write' | 'destroy', resource?: string): PlacedEffect =>
    place({ kind: 'call', server, tool: 't', access, ...(resource === undefined ? {} : { resource }) });
  it.each([
    [[read('/r/a')], [read('/r/a')], false],
    [[read('/r/a')], [write('/r/a')], true],
    [[write('/r/a')], [write('/r/a/b')], true],
    [[write('/r/a')], [write('/r/ab')], false],
    [[read('/r')], [write('/r/a/b')], true],
    [[place({ kind: 'run', command: 'ls', shell: 'sh' })], [read('/r/a')], true],
    [[place({ kind: 'unknown' })], [place({ kind: 'ask' })], true],
    [[place({ kind: 'unknown' })], [], false],
    [[place({ kind: 'ask' })], [place({ kind: 'ask' })], true],
    [[place({ kind: 'ask' })], [write('/r/a')], false],
    [[place({ kind: 'fetch', url: 'https://x' })], [write('/r/a')], false],
    [[shell('a')], [shell('b')], false],
    [[shell('a')], [shell('a')], true],
    [[shell('a')], [write('/r/a')], false],
    [[remote('x', 'read', 'r')], [remote('x', 'read', 'r')], false],
    [[remote('x', 'read', 'r')], [remote('x', 'write', 'r')], true],
    [[remote('x', 'read')], [remote('x', 'destroy', 'r')], true],
    [[remote('x', 'write', 'q')], [remote('x', 'write', 'r')], false],
    [[remote('x', 'write', 'r')], [remote('y', 'write', 'r')], false],
    [[remote('x', 'write')], [write('/r/a')], false],
    [[remote('x', 'read')], [place({ kind: 'run', command: 'ls', shell: 'sh' })], true],
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
