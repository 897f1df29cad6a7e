import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { summarizeText } from './summarize-text.js';

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

  it('says that there is more when the text is longer than what is read of it', () => {
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
