import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { JsonValue } from '../contract/json.js';
import { GivenValues } from './given-values.js';

function given(...values: readonly string[]): GivenValues {
  const all = new GivenValues();
  all.add(values);
  return all;
}

it('hides a value in texts, in names, and in JSON as text', () => {
  const value = 'two "words"\nand a line';
  const { hide } = given(value, '/not/a/path/of/this/machine+x');
  expect(hide(`a ${value} b`)).toBe('a [REDACTED] b');
  expect(hide(JSON.stringify({ value }))).toBe('{"value":"[REDACTED]"}');
  expect(hide('/not/a/path/of/this/machine+x')).toBe('[REDACTED]');
  expect(given('a-long-value').hideIn({ 'a-long-value': ['a-long-value', 5, null] })).toEqual({
    '[REDACTED]': ['[REDACTED]', 5, null],
  });
});

it('leaves short values, paths, and addresses without their credentials visible', () => {
  const { hide } = given(
    'short',
    tmpdir(),
    join(tmpdir(), 'a-new-file'),
    `${tmpdir()}:/usr/bin`,
    'https://me:opens-it@db.test/x',
  );
  const text = `short ${tmpdir()} ${join(tmpdir(), 'a-new-file')} /usr/bin https://db.test/x`;
  expect(hide(text)).toBe(text);
  expect(hide('opens-it')).toBe('[REDACTED]');
});

it('a result that was nested too deep was reported as a fault of the program', () => {
  let deep: JsonValue = 1;
  for (let level = 0; level < 5_000; level++) deep = [deep];
  expect(new GivenValues().hideIn(deep)).toBe(deep);
  expect(() => given('a-long-value').hideIn(deep)).toThrow('nested deeper than 100');
});
