import { createHash } from 'node:crypto';
import { createContext, runInContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FrozenArguments, freezeArguments, hashArguments } from './freeze-arguments.js';

const LIMITS = { maxBytes: 262_144 };

/** JSON objects that a program may pass; integers within JSON's exact range. */
const jsonObject = fc.dictionary(
  fc.string({ unit: 'binary' }).filter((key) => key !== '__proto__'),
  fc
    .jsonValue({ stringUnit: 'binary', maxDepth: 4 })
    .filter((value) => !/e\+|\d{16}|"__proto__":/.test(JSON.stringify(value))),
  { maxKeys: 6 },
);

describe('freezeArguments()', () => {
  it('gives an equal, frozen copy that later mutation does not reach', () => {
    const args = { path: 'a', edits: [{ old: 'x', new: 'y' }], n: 1, yes: true, none: null };
    const { value } = accept(args);
    expect(value).toEqual({ path: 'a', edits: [{ old: 'x', new: 'y' }], n: 1, yes: true, none: null });
    args.path = 'b';
    args.edits[0] = { old: 'changed', new: '' };
    expect(value).toMatchObject({ path: 'a', edits: [{ old: 'x' }] });
    expect(Object.isFrozen(value)).toBe(true);
    expect(Object.isFrozen(value.edits)).toBe(true);
    expect(Object.isFrozen((value.edits as object[])[0])).toBe(true);
  });

  it('counts the bytes of the compact serialisation exactly', () => {
    fc.assert(
      fc.property(jsonObject, (args) => {
        const { value, bytes } = accept(args);
        expect(bytes).toBe(Buffer.byteLength(JSON.stringify(args)));
        expect(JSON.stringify(value)).toBe(JSON.stringify(args));
      }),
      { numRuns: 500 },
    );
  });

  it('counts every number as JSON writes it', () => {
    const number = fc.oneof(
      fc.maxSafeInteger(),
      fc.integer({ min: -1_100_000, max: 1_100_000 }),
      fc.double({ noNaN: true, min: -1, max: 1 }),
      fc.constantFrom(0, -0, 9, 10, 99, 100, 999_999, 1_000_000, -1_000_000, 5e-324, 0.1, 1e-7, 2 ** 53 - 1),
    );
    fc.assert(
      fc.property(number, (n) => {
        expect(accept({ n }).bytes).toBe(Buffer.byteLength(JSON.stringify({ n })));
      }),
      { numRuns: 1_000 },
    );
  });

  it('refuses exactly where one byte is missing', () => {
    fc.assert(
      fc.property(jsonObject, (args) => {
        const size = Buffer.byteLength(JSON.stringify(args));
        expect(freezeArguments(args, { maxBytes: size }).ok).toBe(true);
        expect(freezeArguments(args, { maxBytes: size - 1 })).toMatchObject({
          ok: false,
          code: 'limit_exceeded',
        });
      }),
    );
    expect(freezeArguments({ s: 'a'.repeat(262_136) }, LIMITS)).toMatchObject({ ok: true, bytes: 262_144 });
    expect(freezeArguments({ s: 'a'.repeat(262_137) }, LIMITS)).toMatchObject({ ok: false });
    expect(freezeArguments({ s: '\n'.repeat(50) }, { maxBytes: 100 })).toMatchObject({ ok: false });
  });

  it('turns -0 into 0, which is what is recorded', () => {
    expect(Object.is(accept({ n: -0 }).value.n, 0)).toBe(true);
  });

  it('drops undefined properties and symbol keys, as JSON.stringify does', () => {
    expect(accept({ a: undefined, b: 1, [Symbol('s')]: 2, c: undefined })).toEqual({
      ok: true,
      value: { b: 1 },
      bytes: 7,
    });
    expect(Object.keys(accept({ a: undefined }).value)).toEqual([]);
  });

  it('takes objects without a prototype and those of another realm', () => {
    expect(accept(Object.assign(Object.create(null), { a: 1 })).value).toEqual({ a: 1 });
    expect(accept(runInContext('({ a: [{}] })', createContext({}))).value).toEqual({ a: [{}] });
    expect(Object.getPrototypeOf(accept(Object.create(null)).value)).toBe(Object.prototype);
  });

  it('keeps names of Object.prototype as plain properties', () => {
    const text = '{"constructor":{"prototype":1},"toString":"x","hasOwnProperty":null}';
    expect(JSON.stringify(accept(JSON.parse(text)).value)).toBe(text);
  });

  class Point {
    x = 1;
  }
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();

  it.each<[string, unknown, string]>([
    ['a function', { a: { f: () => 1 } }, '/a/f is a function'],
    ['a symbol', { a: [Symbol('s')] }, '/a/0 is a symbol'],
    ['a bigint', { a: 1n }, '/a is a bigint'],
    ['undefined in an array', { a: [undefined] }, '/a/0 is undefined'],
    ['a hole', { a: Object.assign([], { 0: 1, 2: 2 }) }, '/a/1 is a hole'],
    ['NaN', { a: Number.NaN }, '/a is NaN'],
    ['Infinity', JSON.parse('{"a":1e400}'), '/a is Infinity'],
    [
      'an integer beyond 2^53',
      JSON.parse('{"offset":12345678901234567890}'),
      '/offset is 12345678901234567000',
    ],
    ['2^53 itself', { n: 2 ** 53 }, '/n is 9007199254740992'],
    ['a Date', { a: new Date(0) }, '/a is not a plain object but a Date'],
    ['a Map', { a: new Map() }, '/a is not a plain object but a Map'],
    ['a class instance', { a: new Point() }, '/a is not a plain object but an instance of a class'],
    ['an object over a plain object', { a: Object.create({ b: 1 }) }, 'not a plain object'],
    ['a lone surrogate', JSON.parse('{"a":"\\ud800x"}'), '/a holds half a surrogate pair'],
    ['a low surrogate first', { a: '\udc00\ud800' }, '/a holds half a surrogate pair'],
    ['a lone surrogate in a name', { '\ud800': 1 }, 'half a surrogate pair'],
    ['an own __proto__', JSON.parse('{"a":{"__proto__":{"x":1}}}'), '/a/__proto__ is a name'],
    ['a cycle', cycle, 'contains itself'],
    ['a revoked proxy', { a: revoked.proxy }, 'cannot be read'],
    ['depth 65', nest(65), 'nested deeper than 64 levels'],
    ['a control character in a path', { 'a\u001b[2J': () => 1 }, '/a\\u001b[2J is a function'],
  ])('refuses %s', (_title, args, message) => {
    const outcome = freezeArguments(args, LIMITS);
    expect(outcome).toMatchObject({ ok: false, code: 'bad_args', message: expect.stringContaining(message) });
  });

  it('takes depth 64', () => {
    expect(freezeArguments(nest(64), LIMITS).ok).toBe(true);
  });

  it('never runs a getter', () => {
    let ran = 0;
    const getter = {
      enumerable: true,
      get: () => {
        ran++;
        return 1;
      },
    };
    const list: unknown[] = [1];
    Object.defineProperty(list, 0, getter);
    for (const args of [Object.defineProperty({}, 'a', getter), { list }]) {
      expect(freezeArguments(args, LIMITS)).toMatchObject({
        ok: false,
        message: expect.stringContaining('is an accessor'),
      });
    }
    expect(ran).toBe(0);
  });

  it.each<[unknown, string]>([
    ['{"path":"a"}', 'got a string ("{\\"path\\":\\"a\\"}"). The object came encoded as a string'],
    ['x', 'expected a JSON object, got a string ("x").'],
    [[1], 'got an array.'],
    [null, 'got null.'],
    [undefined, 'got nothing.'],
    [7, 'got an integer (7).'],
    [true, 'got a boolean (true).'],
    [() => 1, 'got a function.'],
  ])('says what came instead of an object: %s', (args, message) => {
    const outcome = freezeArguments(args, LIMITS);
    expect(outcome).toMatchObject({ ok: false, code: 'bad_args', message: expect.stringContaining(message) });
  });

  it('refuses more than 100,000 entries, however they are spread, and shared parts that multiply', {
    tags: ['soak'],
  }, () => {
    const wide = Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`k${at}`, 1]));
    const spread = { a: Array.from({ length: 60_000 }, () => 1), b: Array.from({ length: 60_000 }, () => 1) };
    let shared: unknown = [1];
    for (let level = 0; level < 60; level++) shared = [shared, shared];
    for (const args of [wide, spread, { shared }, { sparse: Object.assign([], { length: 4_000_000_000 }) }]) {
      const started = performance.now();
      expect(freezeArguments(args, { maxBytes: 100_000_000 })).toMatchObject({
        ok: false,
        code: 'limit_exceeded',
        message: expect.stringContaining('100000 entries'),
      });
      expect(performance.now() - started).toBeLessThan(5_000);
    }
  });

  it('stops reading a text that cannot fit', () => {
    const took = Array.from({ length: 5 }, () => {
      const started = performance.now();
      expect(freezeArguments({ s: 'x'.repeat(200_000_000) }, LIMITS).ok).toBe(false);
      return performance.now() - started;
    });
    // On a busy machine some take longer.
    expect(Math.min(...took)).toBeLessThan(50);
  });
});

function accept(args: unknown): Extract<FrozenArguments, { ok: true }> {
  const outcome = freezeArguments(args, LIMITS);
  if (!outcome.ok) throw new Error(outcome.message);
  return outcome;
}

/** An object with `levels` nested objects, itself included. */
function nest(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}

describe('hashArguments()', () => {
  it('is the SHA-256 of the canonical JSON', () => {
    const expected = createHash('sha256').update('{"a":[1,{"c":null,"d":"é"}],"b":true}').digest('hex');
    expect(hashArguments({ b: true, a: [1, { d: 'é', c: null }] })).toBe(expected);
  });

  it('tells different arguments apart', () => {
    const hashes = [{}, { a: 1 }, { a: '1' }, { a: [1] }, { a: null }, { b: 1 }].map(hashArguments);
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
