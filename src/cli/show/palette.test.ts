import { describe, expect, it } from 'vitest';
import { createPalette } from './palette.js';

describe('createPalette()', () => {
  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
    [false, { FORCE_COLOR: '1' }, true],
    [false, { FORCE_COLOR: '0' }, false],
    [true, { FORCE_COLOR: '0' }, false],
    [true, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
  ])('on a terminal: %s, with %j: colours %s', (isTerminal, env, coloured) => {
    expect(createPalette(isTerminal, env).red('x')).toBe(coloured ? '\u001b[31mx\u001b[39m' : 'x');
  });
});
