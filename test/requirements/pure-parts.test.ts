// The parts of the package that work without an executor: their errors for wrong options and wrong values.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parsePatch } from '../../src/lp1.js';
import { createSanitizer, redact, sanitize } from '../../src/output.js';
import { createCallStream, parseToolBlocks, readCalls } from '../../src/protocols.js';
import { createSandbox } from '../../src/sandbox.js';

/** A value that the types refuse, as a caller without types may give it. */
const wrong = (value: unknown) => value as never;

function errorOf(operation: () => unknown): unknown {
  try {
    operation();
  } catch (error) {
    return error;
  }
  throw new Error('expected an error, and there was none');
}

describe('options of functions that need no executor', () => {
  it.each([
    ['redact.values', () => redact('x', { values: wrong('x') })],
    ['redact.values', () => redact('x', { values: wrong([5]) })],
    ['redact.value', () => redact('x', wrong({ value: ['x'] }))],
    ['redact', () => redact('x', wrong(null))],
    ['mode', () => sanitize('a\nb', wrong('in-line'))],
    ['mode', () => createSanitizer(wrong('in-line'))],
    ['parseToolBlocks.labels', () => parseToolBlocks('x', { labels: wrong('tool') })],
    ['parseToolBlocks.label', () => parseToolBlocks('x', wrong({ label: 'json' }))],
    ['readCalls.formats', () => readCalls('x', wrong({ formats: 'native' }))],
    ['readCalls.tools', () => readCalls('x', { tools: wrong([5]) })],
    ['createCallStream.tools', () => createCallStream('openai', { tools: wrong('bash') })],
  ])('are refused by their name: %s', (name, call) => {
    const error = errorOf(call);
    expect(error).toMatchObject({ code: 'config_invalid' });
    expect(String(error)).toContain(name);
  });

  it('may be left out', () => {
    expect(redact('x', {})).toBe('x');
    expect(sanitize('a\nb', undefined)).toBe('a\nb');
    expect(parseToolBlocks('x', {})).toEqual({ calls: [], errors: [] });
    expect(readCalls('x', {}).errors).toEqual([]);
    expect(createCallStream('openai', {}).end().errors).toEqual([]);
  });
});

describe('wrong values', () => {
  it.each([5, null, undefined, {}])('parsePatch() fails like any other patch for %j', (value) => {
    expect(errorOf(() => parsePatch(wrong(value)))).toMatchObject({ code: 'patch_failed' });
  });

  it('resolve() calls a path that no file can have a wrong argument (D046)', () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-requirements-')));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    writeFileSync(join(root, 'a.txt'), '');
    const sandbox = createSandbox({ roots: [root] });
    expect(sandbox.resolve('x'.repeat(255))).toBe(join(root, 'x'.repeat(255)));
    for (const path of ['x'.repeat(256), 'é'.repeat(128), 'a.txt/b']) {
      const error = errorOf(() => sandbox.resolve(path));
      expect(error).toMatchObject({ code: 'bad_args', message: expect.stringContaining(path.slice(0, 5)) });
    }
  });
});
