import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freezeParsed } from './freeze-parsed.js';

describe('holdFast()', () => {
  it('gives an equal copy that nobody can change, and leaves the original alone', () => {
    const original = { list: [{ a: 1 }], deep: { b: [1, [2]] } };
    const held = freezeParsed(original) as typeof original;
    expect(held).toEqual(original);
    expect(() => held.deep.b.push(1)).toThrow(TypeError);
    expect(() => Object.assign(held.list[0] as object, { a: 2 })).toThrow(TypeError);
    original.deep.b.push(3);
    expect(held.deep.b).toEqual([1, [2]]);
  });

  it('holds whatever JSON there is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(freezeParsed(value)).toEqual(value);
      }),
    );
  });

  it('takes __proto__ for a name, and pollutes nothing', () => {
    const held = freezeParsed(JSON.parse('{"__proto__":{"polluted":true}}')) as object;
    expect(Object.keys(held)).toEqual(['__proto__']);
    expect('polluted' in held).toBe(false);
  });

  it('hands on instances, functions and what they hold', () => {
    const parts = { when: new Date(0), by: new Map([[1, {}]]), bytes: new Uint8Array(2), go: () => 1 };
    const held = freezeParsed(parts) as typeof parts;
    expect(held.when).toBe(parts.when);
    expect([held.by, held.bytes, held.go]).toEqual([parts.by, parts.bytes, parts.go]);
    held.by.set(2, {});
  });

  it('comes to an end on a cycle, and keeps what is shared shared', () => {
    const shared = { n: 1 };
    const value: Record<string, unknown> = { one: shared, two: shared };
    value.self = value;
    const held = freezeParsed(value) as typeof value;
    expect(held.self).toBe(held);
    expect(held.one).toBe(held.two);
  });
});
