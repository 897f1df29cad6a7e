import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SanitizeMode } from './create-neutralizer.js';
import { createSanitizer, sanitize } from './sanitize.js';

const ENGLAND = '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}';

describe('sanitize (D077, D104, D138)', () => {
  it.each([
    ['colours', 'a\x1b[31mred\x1b[0mb', 'aredb'],
    ['clear screen and home', 'a\x1b[2J\x1b[Hb', 'ab'],
    ['erasing the line above', 'safe\x1b[1A\x1b[2Kfake', 'safefake'],
    ['private modes', 'a\x1b[?2004l\x1b[?1049h\x1b[>4;2mb', 'ab'],
    ['intermediates in CSI', 'a\x1b[4 q\x1b[!pb', 'ab'],
    ['CSI at the end of the text', 'a\x1b[', 'a'],
    ['ESC at the end of the text', 'a\x1b', 'a'],
    ['CSI broken off by a character beyond ASCII', 'a\x1b[31éb', 'aéb'],
    ['ESC inside CSI', 'a\x1b[3\x1b[31mb', 'ab'],
    ['CAN inside CSI', 'a\x1b[3\x18mb', 'amb'],
    ['a control inside CSI', 'a\x1b[3\x071mb', 'ab'],
    ['a line end inside CSI', 'a\x1b[3\nb', 'a\nb'],
    ['a title ended by BEL', 'a\x1b]0;pwned\x07b', 'ab'],
    ['a title ended by ST', 'a\x1b]2;pwned\x1b\\b', 'ab'],
    ['a title ended by 8-bit ST', 'a\x1b]2;pwned\x9cb', 'ab'],
    ['a clipboard write', 'a\x1b]52;c;cm0gLXJmIC8=\x07b', 'ab'],
    ['a link', '\x1b]8;;http://evil.example\x1b\\Click\x1b]8;;\x1b\\', 'Click'],
    ['a notification', 'a\x1b]777;notify;t;b\x07b', 'ab'],
    ['OSC with another script inside', 'a\x1b]0;日本\u200d\x07b', 'ab'],
    ['DCS', 'a\x1bP+q544e\x1b\\b', 'ab'],
    ['SOS, PM and APC', 'a\x1bXs\x1b\\b\x1b^x\x1b\\c\x1b_Gf=100;AAAA\x1b\\d', 'abcd'],
    ['a screen title', 'a\x1bktitle\x1b\\b', 'ab'],
    ['a new sequence inside a string', 'a\x1b]0;x\x1b[31mb', 'ab'],
    ['character sets', 'a\x1b(Bb\x1b)0c\x1b%Gd', 'abcd'],
    ['escapes of two characters', 'a\x1bcb\x1b7c\x1b8d\x1b=e\x1bMf', 'abcdef'],
    ['ESC before a character beyond ASCII', 'a\x1béb', 'aéb'],
    ['8-bit CSI', 'Text\x9b31mColored', 'TextColored'],
    ['8-bit OSC and DCS', 'a\x9d0;x\x07b\x90q~\x9cc', 'abc'],
    ['NEL and RI', 'a\x85b\x8dc', 'abc'],
    ['backspaces', 'safe\b\b\b\bevil', 'safeevil'],
    ['BEL, shifts, NUL, DEL, VT, FF', 'a\x07b\x0ec\x0fd\0e\x7ff\vg\fh', 'abcdefgh'],
    ['bidirectional controls', 'A\u202aB\u202eC\u2066D\u2069E\u200eF\u061cG', 'ABCDEFG'],
    ['soft hyphen, vowel separator, BOM, word joiner', 'a\u00adb\u180ec\ufeffd\u2060e', 'abcde'],
    ['zero width characters between Latin letters', 'a\u200bb\u200cc\u200dd', 'abcd'],
    ['tags', 'x\u{e0069}\u{e0067}\u{e006e}y', 'xy'],
    ['tags after a flag that are no flag', '🏴\u{e0069}\u{e0067}\u{e007f}y', '🏴y'],
    ['variation selectors after letters', 'a\ufe0fb\ufe00c\u{e0100}d', 'abcd'],
    ['a run of variation selectors after an emoji', '😀\u{e0100}\u{e0101}\ufe00\ufe01!', '😀!'],
    ['a joiner before a letter', '👩\u200da', '👩a'],
    ['emoji style on a digit that is no keycap', '1\ufe0f2', '12'],
    ['interlinear annotation', 'a\ufff9b\ufffac\ufffb', 'abc'],
    ['invisible musical and shorthand controls', 'a\u{1d173}b\u{1bca0}c', 'abc'],
  ])('removes %s', (_what, text, clean) => {
    expect(sanitize(text)).toBe(clean);
  });

  it.each([
    ['tabs, newlines, CRLF', 'L1\nL2\tT\r\nE'],
    ['full-width forms', 'ｆｕｌｌｗｉｄｔｈ　①'],
    ['Persian with its non-joiner', 'می\u200cخواهم'],
    ['Hindi with its joiner', 'क्\u200dष'],
    ['Khmer with its zero width space', 'ភាសា\u200bខ្មែរ'],
    ['Hebrew in English', 'file שלום.txt 42'],
    ['a family', '👨\u200d👩\u200d👧\u200d👦'],
    ['a profession with a skin tone', '👩🏽\u200d💻'],
    ['a heart on fire', '❤\ufe0f\u200d🔥'],
    ['the rainbow flag', '🏳\ufe0f\u200d🌈'],
    ['the flag of England', `${ENGLAND}!`],
    ['flags of countries', '🇩🇪🇫🇷'],
    ['keycaps', '1\ufe0f\u20e3 #\ufe0f\u20e3'],
    ['text style', '✔\ufe0e ok'],
    ['an ideograph’s variant', '葛\u{e0100}城'],
    ['combining marks', 'e\u0301 n\u0303'],
    ['box drawing and mathematics', '├── ✓ ░▒▓ ∑∫√∞ ≠ ≤ π'],
    ['icons of private use', '\ue0b0 \u{f0001}'],
    ['source code about escapes', 'const re = /\\x1b\\[[0-9;]*m/g; // strip'],
    ['U+FFFD', 'a\ufffdb'],
    ['line separators', 'a\u2028b'],
  ])('keeps %s', (_what, text) => {
    expect(sanitize(text)).toBe(text);
  });

  it.each([
    ['50%\r100%\n', '50%\n100%\n'],
    ['a\r\r\nb', 'a\n\r\nb'],
    ['a\r', 'a\n'],
    ['a\r\x1b[K\nb', 'a\r\nb'],
    ['a\r\x1b[Kb', 'a\nb'],
  ])('makes a lone CR of %j a line feed (F025)', (text, clean) => {
    expect(sanitize(text)).toBe(clean);
  });

  it('puts U+FFFD for lone halves of a pair', () => {
    expect(sanitize('a\ud83db\ude00c\ud83d')).toBe('a\ufffdb\ufffdc\ufffd');
  });

  it('shows breaks and tabs as symbols where all must stay on one line', () => {
    expect(sanitize('rm -rf\r\nx\ny\rz\tq\u2028p', 'inline')).toBe('rm -rf␊x␊y␊z␉q␊p');
  });

  it('decides by the visible neighbours, not by the characters between them', () => {
    expect(sanitize('👩\x1b[0m\u200d\x1b[0m💻')).toBe('👩\u200d💻');
  });

  it.each(['\x1b', '\x1b]', '\r', '\u200d', '😀\u200d', '🏴\u{e0067}', '\ud800', 'م\u200c'])(
    'needs time linear in the length for 200,000 units of %j',
    (piece) => {
      const text = piece.repeat(Math.ceil(200_000 / piece.length));
      const started = process.cpuUsage().user;
      sanitize(text);
      expect((process.cpuUsage().user - started) / 1e6).toBeLessThan(4);
    },
  );
});

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

  it('starts again after the end', () => {
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

  it('returns the same for bytes as for text, for every pair of neighbours', () => {
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

  it('hides at most a line, or 8192 characters, after a sequence that is never finished', () => {
    expect(sanitize('a\x1b]0;title\nb')).toBe('a\nb');
    expect(sanitize('a\x1bPq\r\nb')).toBe('a\r\nb');
    expect(sanitize(`a\x1b]0;${'x'.repeat(9000)}b`)).toMatch(/^ax{800,}b$/);
    expect(sanitize(`a\x1b[${'1'.repeat(100_000)}b`).endsWith('1b')).toBe(true);
    expect(sanitize(`a\x1b]52;c;${'x'.repeat(8000)}\x07b`)).toBe('ab');
  });
});
