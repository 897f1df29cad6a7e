import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cleanFileOutput,
  cleanOutput,
  isJsonObjectText,
  summarizeText,
  TRUNCATION_MARKER,
  truncate,
} from './clean-output.js';

describe('cleanOutput (D077, D079, A017, A038, A046)', () => {
  it('returns ordinary text unchanged', () => {
    expect(cleanOutput('12 files changed\n', { maxBytes: 100 })).toEqual({
      text: '12 files changed\n',
      truncated: false,
    });
  });

  it('neutralises before it measures: removed text takes no room', () => {
    expect(cleanOutput(`${'\x1b[31m'.repeat(10)}abc`, { maxBytes: 30 })).toEqual({
      text: 'abc',
      truncated: false,
    });
  });

  it('redacts before it cuts: half a secret is none the rules would know', () => {
    const text = `${'x'.repeat(40)} password=hunter2-hunter2 ${'y'.repeat(100)}`;
    const cut = cleanOutput(text, { maxBytes: 82 });
    expect(cut).toEqual({
      text: `${'x'.repeat(40)} password=[REDACTE`.slice(0, 58) + TRUNCATION_MARKER,
      truncated: true,
    });
  });

  it('neutralises before it redacts: a secret is not hidden from the rules by a colour', () => {
    expect(cleanOutput('password=hun\x1b[0mter2 x', { maxBytes: 100 }).text).toBe('password=[REDACTED] x');
    expect(
      cleanOutput('my-\x1b[1msecret\u200b-value', { maxBytes: 100, values: ['my-secret-value'] }).text,
    ).toBe('[REDACTED]');
  });
});

const whole = { maxBytes: 1000 };

describe('cleanFileOutput()', () => {
  it('leaves a byte order mark where files have one, and line ends unchanged', () => {
    expect(cleanFileOutput('\ufeffone\r\ntwo\n', whole).text).toBe('\ufeffone\r\ntwo\n');
  });

  it('takes away what only hides: the same character anywhere else, and controls', () => {
    expect(cleanFileOutput('a\ufeffb', whole).text).toBe('ab');
    expect(cleanFileOutput('\ufeff\ufeff\u001b[31mred', whole).text).toBe('\ufeffred');
  });

  it('hides exact values alone, and says so', () => {
    expect(cleanFileOutput('password=hunter2', whole)).toEqual({
      text: 'password=hunter2',
      truncated: false,
      redacted: false,
    });
    const { text, redacted } = cleanFileOutput('\ufeffthe key is s3cr3t-value-77', {
      ...whole,
      values: ['s3cr3t-value-77'],
    });
    expect(text).not.toContain('s3cr3t');
    expect(redacted).toBe(true);
  });
});

const bytes = (text: string) => Buffer.byteLength(text);

describe('truncate (D079, D080, D137)', () => {
  it('has a marker of 24 bytes', () => {
    expect(bytes(TRUNCATION_MARKER)).toBe(24);
    expect(TRUNCATION_MARKER).toBe('\n\n... [output truncated]');
  });

  it.each([
    ['', 0],
    ['', 100],
    ['abc', 3],
    ['é'.repeat(10), 20],
    ['🌍'.repeat(13), 52],
    ['a'.repeat(102_400), 102_400],
  ])('leaves %# alone when it fits exactly', (text, limit) => {
    expect(truncate(text, limit)).toEqual({ text, truncated: false });
  });

  it.each([
    ['one below the marker', 'a'.repeat(30), 23, TRUNCATION_MARKER.slice(0, 23)],
    ['the marker itself', 'a'.repeat(30), 24, TRUNCATION_MARKER],
    ['one byte of text', 'a'.repeat(30), 25, `a${TRUNCATION_MARKER}`],
    ['nothing at all', 'abc', 0, ''],
    ['a limit below zero', 'abc', -5, ''],
    ['a limit that is no number', 'abc', Number.NaN, ''],
    ['a limit between two bytes', 'a'.repeat(30), 25.9, `a${TRUNCATION_MARKER}`],
    ['a two-byte character on the cut', 'é'.repeat(20), 29, `éé${TRUNCATION_MARKER}`],
    ['a three-byte character on the cut', '→'.repeat(20), 29, `→${TRUNCATION_MARKER}`],
    ['a four-byte character on the cut', '🌍'.repeat(13), 51, `${'🌍'.repeat(6)}${TRUNCATION_MARKER}`],
    ['a character that never fits', '🌍'.repeat(13), 27, TRUNCATION_MARKER],
  ])('cuts at %s', (_what, text, limit, expected) => {
    expect(truncate(text, limit)).toEqual({ text: expected, truncated: true });
  });

  it('counts bytes where the number of characters would fit', () => {
    expect(truncate('é'.repeat(40), 79).truncated).toBe(true);
  });

  it('knows no limit when the limit is infinite', () => {
    expect(truncate('abc', Number.POSITIVE_INFINITY)).toEqual({ text: 'abc', truncated: false });
  });

  it('never exceeds the limit, never splits a character, and keeps the longest beginning that fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), fc.nat(200), (text, limit) => {
        const cut = truncate(text, limit);
        expect(bytes(cut.text)).toBeLessThanOrEqual(limit);
        expect(cut.truncated).toBe(bytes(text) > limit);
        if (!cut.truncated || limit <= 24) return;
        const body = cut.text.slice(0, -TRUNCATION_MARKER.length);
        expect(text.startsWith(body)).toBe(true);
        const next = String.fromCodePoint(text.codePointAt(body.length) ?? 0);
        expect(bytes(body + next)).toBeGreaterThan(limit - 24);
        expect(cut.text).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });
});

describe('summarizeText (D026)', () => {
  it('leaves a short line alone', () => {
    expect(summarizeText('Run command: ls -la')).toBe('Run command: ls -la');
    expect(summarizeText('x'.repeat(200))).toBe('x'.repeat(200));
    expect(summarizeText('')).toBe('');
  });

  it('cuts with an ellipsis inside the limit', () => {
    expect(summarizeText('x'.repeat(201))).toBe(`${'x'.repeat(199)}…`);
    expect(summarizeText('abcdef', 4)).toBe('abc…');
  });

  it('reports that there is more if the text is longer than the part that is read', () => {
    expect(summarizeText('\x1b[0m'.repeat(100_000))).toBe('…');
  });

  it('is one line that shows its breaks, without controls', () => {
    expect(summarizeText('Run command: echo hi\nrm -rf x\t\x1b[2K\u202e')).toBe(
      'Run command: echo hi␊rm -rf x␉',
    );
  });

  it('hides secrets', () => {
    expect(summarizeText('Run command: curl -u admin:s3cretpass https://x')).toBe(
      'Run command: curl -u admin:[REDACTED] https://x',
    );
  });

  it('is valid Unicode, at most so long, and ends in an ellipsis when cut', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '🌍', '👩\u200d💻', 'é', '\n', '\ud83d', 'e\u0301'),
      maxLength: 300,
    });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 200 }), (text, limit) => {
        const summary = summarizeText(text, limit);
        expect(summary.length).toBeLessThanOrEqual(limit);
        expect(summary).not.toMatch(/\p{Surrogate}|\n/u);
        expect(summary === summarizeText(text, 10_000) || summary.endsWith('…')).toBe(true);
      }),
    );
  });
});

describe('isJsonObjectText (D061)', () => {
  it.each(['{}', '{ "b": 1,\n  "a" : 2 }', ' \t\r\n{"a":[1,{"b":null}]}\n', '{"a":"\\u001b[31m\\/é"}'])(
    'takes %j',
    (text) => {
      expect(isJsonObjectText(text)).toBe(true);
    },
  );

  it.each([
    '',
    '[1,2]',
    '"{}"',
    'null',
    '42',
    '{"a":1',
    '{"a":1} trailing',
    "{'a':1}",
    '{a:1}',
    '{"a":1,}',
    '{"a":NaN}',
    '\ufeff{}',
    '\u00a0{}',
    'failed: {"a":1}',
  ])('refuses %j', (text) => {
    expect(isJsonObjectText(text)).toBe(false);
  });

  it('answers for text nested deeper than any stack', () => {
    expect(isJsonObjectText('{"a":'.repeat(200_000))).toBe(false);
  });
});
