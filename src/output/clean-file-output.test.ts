import { describe, expect, it } from 'vitest';
import { cleanFileOutput } from './clean-file-output.js';

const whole = { maxBytes: 1000 };

describe('cleanFileOutput()', () => {
  it('leaves a byte order mark where files have one, and line ends as they are', () => {
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
