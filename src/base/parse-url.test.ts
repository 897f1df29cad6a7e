import { expect, test } from 'vitest';
import { parseUrl } from './parse-url.js';

test('reads a URL, and returns undefined for any other text', () => {
  expect(parseUrl('https://Example.com:443/a b')?.href).toBe('https://example.com/a%20b');
  for (const text of ['', 'example.com', '//example.com', 'http://', 'https://exa mple/'])
    expect(parseUrl(text), text).toBeUndefined();
});

test('reads letters beyond ASCII, even after so many calls that the caller is optimised', () => {
  for (let count = 0; count < 100_000; count++) parseUrl(`https://example.com/${count}`);
  const hosts = ['https://BÜCHER.example/', 'https://日本.example/'].map((text) => parseUrl(text)?.hostname);
  expect(hosts).toEqual(['xn--bcher-kva.example', 'xn--wgv71a.example']);
});
