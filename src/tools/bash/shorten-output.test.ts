import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shortenOutput } from './shorten-output.js';

test('leaves 30000 characters alone, however many units they have', () => {
  for (const text of ['', 'x'.repeat(30_000), '😀'.repeat(30_000)]) {
    expect(shortenOutput(text)).toEqual({ text, truncated: false });
  }
});

test('shows all of a text that is a little longer, once', () => {
  const { text, truncated } = shortenOutput(`${'a'.repeat(30_000)}bc`);
  expect(truncated).toBe(true);
  expect(text).toMatch(
    /^a{30000}\n\n\[Output truncated: 30002 characters .* last 2 characters are shown\]\n\nbc$/,
  );
});

test('names bytes where the text is itself only a part', () => {
  expect(shortenOutput('x'.repeat(40_000), 9_000_000).text).toContain(
    '[Output truncated: 9000000 bytes in total',
  );
});

test('keeps the first 30000 and the last 2000 characters and splits none', () => {
  const character = fc.constantFrom('a', 'é', '€', '😀');
  const text = fc
    .tuple(fc.array(character, { minLength: 1, maxLength: 7 }), fc.integer({ min: 32_000, max: 40_000 }))
    .map(([pattern, length]) => Array.from({ length }, (_, i) => pattern[i % pattern.length]).join(''));
  fc.assert(
    fc.property(text, (whole) => {
      const characters = [...whole];
      const { text: short } = shortenOutput(whole);
      expect(short.startsWith(`${characters.slice(0, 30_000).join('')}\n\n[Output truncated`)).toBe(true);
      expect(short.endsWith(`]\n\n${characters.slice(-2000).join('')}`)).toBe(true);
    }),
    { numRuns: 30 },
  );
});
