import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { argumentMismatch, parseArgument } from './argument-pattern.js';

/** Whether a rule with this one condition matches the arguments. */
function matches(
  decision: 'allow' | 'ask' | 'deny',
  pointer: string,
  condition: unknown,
  args: unknown,
): boolean {
  return argumentMismatch([parseArgument(pointer, condition)], [args], decision) === undefined;
}

describe('a condition on an argument', () => {
  it.each([
    ['sandbox-*', 'sandbox-1', true],
    ['sandbox-*', 'sandbox-', true],
    ['sandbox-*', 'my-sandbox-1', false],
    ['sandbox-*', 'Sandbox-1', false],
    ['*', 'any\nthing / at all', true],
    ['a?c', 'abc', true],
    ['a?c', 'a😀c', true],
    ['a?c', 'ac', false],
    ['a\\*', 'a*', true],
    ['a\\*', 'ab', false],
    ['a\\\\', 'a\\', true],
    ['', '', true],
    ['', 'a', false],
    [['bug', 'doc*'], 'docs', true],
    [['bug', 'doc*'], 'bugs', false],
    [[1, 3], 1, true],
    [[1, 3], 3, true],
    [[1, 3], 3.01, false],
    [[-5, -5], -5, true],
    [7, 7, true],
    [7, 8, false],
    [0, -0, true],
    [true, true, true],
    [true, false, false],
  ])('%j matches %j: %s, for whatever the rule decides', (condition, value, expected) => {
    for (const decision of ['allow', 'ask', 'deny'] as const) {
      expect(matches(decision, '/a', condition, { a: value })).toBe(expected);
    }
  });

  it.each([
    ['a pattern', 'x*', 7],
    ['a pattern', '*', null],
    ['a pattern', '*', ['x']],
    ['a list', ['x'], { x: 1 }],
    ['a range', [0, 9], '5'],
    ['a number', 5, '5'],
    ['a number', 1, true],
    ['true', true, 'true'],
    ['true', true, 1],
  ])(
    '%s (%j) and a value of another type (%j): only a rule that denies matches',
    (_what, condition, value) => {
      expect(matches('allow', '/a', condition, { a: value })).toBe(false);
      expect(matches('ask', '/a', condition, { a: value })).toBe(false);
      expect(matches('deny', '/a', condition, { a: value })).toBe(true);
    },
  );

  it.each([
    ['/a', {}],
    ['/a', undefined],
    ['/a', 'a'],
    ['/a/b', { a: 'b' }],
    ['/a/0', { a: [] }],
    ['/a/01', { a: ['x', 'x'] }],
    ['/a/-', { a: ['x'] }],
    ['/a/length', { a: ['x'] }],
    ['/a/-1', { a: ['x'] }],
    ['/__proto__', { a: 'x' }],
    ['/constructor/name', {}],
    ['/a/toString', { a: {} }],
    ['/', { a: 'x' }],
  ])('a pointer %j that leads nowhere in %j: only a rule that denies matches', (pointer, args) => {
    for (const condition of ['*', ['*'], true, 1, [1, 2]]) {
      expect(matches('allow', pointer, condition, args)).toBe(false);
      expect(matches('ask', pointer, condition, args)).toBe(false);
      expect(matches('deny', pointer, condition, args)).toBe(true);
    }
  });

  it.each([
    ['/a/b/0/c', { a: { b: [{ c: 'x' }] } }],
    ['/a~1b', { 'a/b': 'x' }],
    ['/a~0b', { 'a~b': 'x' }],
    ['/~01', { '~1': 'x' }],
    ['/', { '': 'x' }],
    ['/0', { 0: 'x' }],
    ['/__proto__', JSON.parse('{"__proto__":"x"}')],
  ])('the pointer %j finds what is there', (pointer, args) => {
    expect(matches('allow', pointer, 'x', args)).toBe(true);
    expect(matches('deny', pointer, 'y', args)).toBe(false);
  });

  it('that allows must match before and after a schema has changed the arguments; one that denies, before or after', () => {
    const tests = [parseArgument('/env', 'prod*')];
    const forms = [{ env: ' prod-1' }, { env: 'prod-1' }];
    expect(argumentMismatch(tests, forms, 'allow')).toBeDefined();
    expect(argumentMismatch(tests, forms, 'ask')).toBeUndefined();
    expect(argumentMismatch(tests, forms, 'deny')).toBeUndefined();
    expect(argumentMismatch(tests, [{ env: 'a' }, { env: 'b' }], 'deny')).toBeDefined();
  });

  it.each([
    ['repo', 'x', /JSON pointer to an argument/],
    ['', 'x', /JSON pointer to an argument/],
    ['/a~2', 'x', /~0 for "~"/],
    ['/a~', 'x', /~0 for "~"/],
    ['/a', null, /expected a pattern, a list/],
    ['/a', {}, /expected a pattern, a list/],
    ['/a', [], /expected a pattern, a list/],
    ['/a', [1], /expected a pattern, a list/],
    ['/a', [1, 2, 3], /expected a pattern, a list/],
    ['/a', ['x', 1], /expected a pattern, a list/],
    ['/a', [2, 1], /runs backwards/],
    ['/a', Number.NaN, /expected a pattern/],
    ['/a', [0, Number.POSITIVE_INFINITY], /expected a pattern/],
    ['/a', 'x\\', /lone backslash/],
    ['/a', 'x'.repeat(2000), /longer than 1024/],
  ])('%j: %j is refused', (pointer, condition, message) => {
    expect(() => parseArgument(pointer, condition)).toThrow(message);
  });

  it('never lets a call pass a rule that denies by leaving out or changing the type of its argument', () => {
    const value = fc.oneof(
      fc.constant(undefined),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.object(),
    );
    fc.assert(
      fc.property(value, fc.string({ maxLength: 20 }), (given, pattern) => {
        const source = pattern.replaceAll('\\', '');
        expect(matches('deny', '/a/b', source, { a: { b: given } })).toBe(true);
        expect(matches('allow', '/a/b', source, { a: { b: given } })).toBe(false);
      }),
    );
  });

  it('takes linear time, even with many stars', () => {
    const text = { a: 'a'.repeat(1_000_000) };
    const startedAt = performance.now();
    expect(matches('allow', '/a', `${'*a'.repeat(20)}*b`, text)).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(3000);
  });
});
