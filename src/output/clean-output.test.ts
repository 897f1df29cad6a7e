import { describe, expect, it } from 'vitest';
import { cleanOutput } from './clean-output.js';
import { TRUNCATION_MARKER } from './truncate.js';

describe('cleanOutput (D077, D079, A017, A038, A046)', () => {
  it('returns ordinary text as it is', () => {
    expect(cleanOutput('12 files changed\n', { maxBytes: 100 })).toEqual({
      text: '12 files changed\n',
      truncated: false,
    });
  });

  it('neutralises before it measures: what is removed takes no room', () => {
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
