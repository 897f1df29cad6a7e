import { describe, expect, it } from 'vitest';
import { isToolError, ToolError } from './tool-error.js';

describe('ToolError', () => {
  it('comes back from JSON as itself, with its details and its cause', () => {
    const error = new ToolError('stale_file', 'File content changed since last read', {
      details: { file: 'a.txt' },
      hint: 'Read it with cat.',
      cause: new ToolError('bad_args', 'inner', { cause: new RangeError('innermost') }),
    });
    const back = ToolError.fromJSON(JSON.parse(JSON.stringify(error)));
    expect(back).toBeInstanceOf(ToolError);
    expect(back).toMatchObject({ code: 'stale_file', message: error.message, details: { file: 'a.txt' } });
    expect(back.hint).toBe('Read it with cat.');
    expect(back.cause).toMatchObject({ code: 'bad_args', message: 'inner' });
    expect((back.cause as ToolError).cause).toMatchObject({ name: 'RangeError', message: 'innermost' });
    expect(JSON.stringify(back)).toBe(JSON.stringify(error));
  });

  it.each([
    null,
    'x',
    {},
    { code: 'nope', message: 'x' },
    { code: 'timeout' },
    { code: 'timeout', message: 'x', hint: 1 },
  ])('cannot be made of %j', (value) =>
    expect(() => ToolError.fromJSON(value)).toThrow(expect.objectContaining({ code: 'bad_args' })),
  );

  it('is found along causes by its code, and only there', () => {
    const inner = new ToolError('timeout', 'too long');
    const wrapped = new Error('outer', { cause: new Error('middle', { cause: inner }) });
    expect(isToolError(wrapped, 'timeout')).toBe(true);
    expect(isToolError(wrapped, 'cancelled')).toBe(false);
    expect(isToolError(wrapped)).toBe(false);
    expect(isToolError(inner)).toBe(true);
  });

  it('is recognised when another copy of the package has made it', () => {
    const foreign = Object.assign(new Error('x'), {
      code: 'timeout',
      [Symbol.for('toolexec.ToolError')]: true,
    });
    expect(isToolError(foreign, 'timeout')).toBe(true);
  });

  it('does not loop on causes that run in a circle', () => {
    const a = new Error('a');
    const b = new Error('b', { cause: a });
    a.cause = b;
    expect(isToolError(a, 'timeout')).toBe(false);
  });
});
