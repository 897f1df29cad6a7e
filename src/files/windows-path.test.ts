import { describe, expect, it } from 'vitest';
import { windowsFlawOf } from './windows-path.js';

describe('windowsFlawOf', () => {
  it.each([
    'a.txt:stream',
    'C:',
    'NUL',
    'com1.txt',
    'Con',
    'LPT³',
    'aux .txt',
    'name.',
    'name ',
    'PROGRA~1',
    'a?',
  ])('finds fault with %j', (component) => expect(windowsFlawOf(component)).toBeTypeOf('string'));

  it.each(['a.txt', 'console', 'nullable.ts', 'com', 'a~b', '.env', 'ä b'])(
    'takes %j for a name',
    (component) => expect(windowsFlawOf(component)).toBeUndefined(),
  );
});
