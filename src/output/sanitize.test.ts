import { describe, expect, it } from 'vitest';
import { sanitize } from './sanitize.js';

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
  ])('makes a lone CR of %j a line feed (decision 25)', (text, clean) => {
    expect(sanitize(text)).toBe(clean);
  });

  it('puts U+FFFD for lone halves of a pair', () => {
    expect(sanitize('a\ud83db\ude00c\ud83d')).toBe('a\ufffdb\ufffdc\ufffd');
  });

  it('shows breaks and tabs as symbols where all must stay on one line', () => {
    expect(sanitize('rm -rf\r\nx\ny\rz\tq\u2028p', 'inline')).toBe('rm -rf␊x␊y␊z␉q␊p');
  });

  it('judges neighbours by what is shown, not by what stands between', () => {
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
