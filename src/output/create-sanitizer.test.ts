import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SanitizeMode } from './create-neutralizer.js';
import { createSanitizer } from './create-sanitizer.js';
import { sanitize } from './sanitize.js';

const NASTY = [
  '\x1B',
  '\x1B[',
  '\x1B[31m',
  '\x1B]0;title\x07',
  '\x1B]8;;http://x\x1B\\',
  '\x1BP',
  '\x1B_',
  '\x1B\\',
  '\x1B(B',
  '',
  '',
  '2J',
  '',
  '',
  '',
  '\x07',
  '\b',
  '',
  '',
  '',
  '\0',
  '\x1Bc',
  '[31m',
  ';1',
  '\r',
  '\n',
  '\r\n',
  '	',
  ' ',
  '\u2028',
  'a',
  'bc',
  '7',
  '#',
  '⃣',
  'é',
  'ｆ',
  '日',
  '𠮷',
  '∩',
  'م',
  'ی',
  '​',
  '‌',
  '‍',
  '️',
  '︎',
  '︀',
  '󠄀',
  '󠁧',
  '󠁿',
  '󠀁',
  '👩',
  '💻',
  '❤',
  '🏴',
  '󠁧󠁢󠁥󠁮󠁧󠁿',
  '🏽',
  '🇩🇪',
  'ᠠ',
  '᠋',
  '᠎',
  '­',
  '‮',
  '⁦',
  '‎',
  '؜',
  '﻿',
  '�',
  'ក',
  'ท',
  '𝅳',
  '𛲠',
  '𝐀',
];
const HALVES = ['\ud83d', '\ude00', '\udb40', '\udc67'];
const BAD_BYTES = [
  [0x9b],
  [0xff],
  [0xc0, 0x9b],
  [0xe0, 0x80, 0x9b],
  [0xe2, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x9f],
  [0xf5],
  [0xc3],
];

const nastyText = fc.array(fc.constantFrom(...NASTY), { maxLength: 24 }).map((parts) => parts.join(''));
const brokenText = fc
  .array(fc.constantFrom(...NASTY, ...HALVES), { maxLength: 24 })
  .map((parts) => parts.join(''));
const nastyBytes = fc
  .array(
    fc.oneof(
      fc.constantFrom(...NASTY).map((part) => Buffer.from(part)),
      fc.constantFrom(...BAD_BYTES).map((part) => Buffer.from(part)),
    ),
    { maxLength: 24 },
  )
  .map((parts) => Buffer.concat(parts));
const cuts = fc.array(fc.nat(60), { maxLength: 8 });
const mode = fc.constantFrom<SanitizeMode>('output', 'inline');

function inPieces<T extends string | Uint8Array>(
  whole: T,
  at: readonly number[],
  mode: SanitizeMode,
): string {
  const sanitizer = createSanitizer(mode);
  const places = [0, ...at.map((place) => Math.min(place, whole.length)).sort((a, b) => a - b), whole.length];
  let out = '';
  for (let index = 1; index < places.length; index++)
    out += sanitizer.push(whole.slice(places[index - 1], places[index]));
  return out + sanitizer.end();
}

describe('createSanitizer, for any input', () => {
  it('gives the same text however a string is cut', () => {
    fc.assert(
      fc.property(brokenText, cuts, mode, (text, at, mode) => {
        expect(inPieces(text, at, mode)).toBe(sanitize(text, mode));
      }),
      { numRuns: 1000 },
    );
  });

  it('gives the same text however bytes are cut, the text of what a decoder makes of them', () => {
    fc.assert(
      fc.property(nastyBytes, cuts, mode, (bytes, at, mode) => {
        const decoded = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
        expect(inPieces(bytes, at, mode)).toBe(sanitize(decoded, mode));
        expect(inPieces(bytes, [...bytes.keys()], mode)).toBe(sanitize(decoded, mode));
      }),
      { numRuns: 1000 },
    );
  });

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(brokenText, mode, (text, mode) => {
        const once = sanitize(text, mode);
        expect(sanitize(once, mode)).toBe(once);
        expect(inPieces(Buffer.from(once), [], mode)).toBe(once);
      }),
      { numRuns: 1000 },
    );
  });

  it('leaves no control, no direction override and no half character', () => {
    fc.assert(
      fc.property(brokenText, (text) => {
        const clean = sanitize(text);
        expect(clean.replace(/\r\n|[\t\n]/g, '')).not.toMatch(/\p{Cc}|[\u061c\u202a-\u202e\u2066-\u2069]/u);
        expect(clean).not.toMatch(/\p{Surrogate}/u);
        expect(sanitize(text, 'inline')).not.toMatch(/\p{Cc}|[\u2028\u2029]/u);
      }),
      { numRuns: 1000 },
    );
  });

  it('takes strings and bytes in turn', () => {
    fc.assert(
      fc.property(nastyText, nastyText, nastyText, (first, second, third) => {
        const sanitizer = createSanitizer();
        const out =
          sanitizer.push(first) +
          sanitizer.push(Buffer.from(second)) +
          sanitizer.push(third) +
          sanitizer.end();
        expect(out).toBe(sanitize(first + second + third));
      }),
    );
  });

  it('keeps text of every script', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'aZ0 é\nßЖ字かﾊ한अعש✓→∑😀𝒳\u{20bb7}') }), (text) => {
        expect(sanitize(text)).toBe(text);
        expect(inPieces(Buffer.from(text), [3, 10], 'output')).toBe(text);
      }),
    );
  });
});

describe('createSanitizer', () => {
  it('puts U+FFFD for a half character when the other kind of chunk follows, and at the end', () => {
    const sanitizer = createSanitizer();
    expect(sanitizer.push('a\ud83d') + sanitizer.push(Buffer.from('b')) + sanitizer.push('c\ud83d')).toBe(
      'a\ufffdbc',
    );
    expect(sanitizer.end()).toBe('\ufffd');
    expect(sanitizer.push(Uint8Array.of(0x61, 0xe2, 0x82)) + sanitizer.push('\ude00') + sanitizer.end()).toBe(
      'a\ufffd\ufffd',
    );
  });

  it('stands at the beginning again after the end', () => {
    const sanitizer = createSanitizer();
    expect(sanitizer.push('a\x1b]0;never') + sanitizer.end()).toBe('a');
    expect(sanitizer.push('b👩\u200d') + sanitizer.end()).toBe('b👩');
    expect(sanitizer.push('👩c\r') + sanitizer.end()).toBe('👩c\n');
    expect(sanitizer.push('\nd') + sanitizer.end()).toBe('\nd');
  });

  it('does not keep the caller’s buffer', () => {
    const sanitizer = createSanitizer();
    const buffer = Uint8Array.of(0x61, 0xe2, 0x82);
    const first = sanitizer.push(buffer);
    buffer.fill(0x20);
    expect(first + sanitizer.push(Uint8Array.of(0xac)) + sanitizer.end()).toBe('a€');
  });

  it('takes views at odd offsets and chunks of any size', () => {
    const text = 'plain ASCII, é, 日本語, 😀\n'.repeat(8000);
    const bytes = Buffer.from(`xyz${text}`).subarray(3);
    for (const size of [1, 7, 4096, 65_535, 65_536, 65_537, 1_000_000]) {
      const at = Array.from({ length: Math.floor(bytes.length / size) }, (_, index) => (index + 1) * size);
      expect(inPieces(bytes, at, 'output')).toBe(text);
    }
  });

  it('gives of bytes what it gives of text, whichever two stand side by side', () => {
    for (const mode of ['output', 'inline'] as const) {
      for (let first = 0; first < 128; first++) {
        for (let second = 0; second < 128; second++) {
          const bytes = Buffer.from([0x61, 0x61, 0x61, 0x61, first, second, 0x62, first, 0x0a, second]);
          const sanitizer = createSanitizer(mode);
          const ofBytes = sanitizer.push(bytes) + sanitizer.end();
          const ofText = sanitizer.push(bytes.toString('latin1')) + sanitizer.end();
          if (ofBytes !== ofText) expect([...bytes, ofBytes]).toEqual([...bytes, ofText]);
        }
      }
    }
  });

  it('hides no more than a line, or 8192 characters, behind a sequence that is never finished', () => {
    expect(sanitize('a\x1b]0;title\nb')).toBe('a\nb');
    expect(sanitize('a\x1bPq\r\nb')).toBe('a\r\nb');
    expect(sanitize(`a\x1b]0;${'x'.repeat(9000)}b`)).toMatch(/^ax{800,}b$/);
    expect(sanitize(`a\x1b[${'1'.repeat(100_000)}b`).endsWith('1b')).toBe(true);
    expect(sanitize(`a\x1b]52;c;${'x'.repeat(8000)}\x07b`)).toBe('ab');
  });
});
