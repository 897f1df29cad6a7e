import { expect, it } from 'vitest';
import { WholeLines } from './whole-lines.js';

const taken = (lines: WholeLines, text: string): string | undefined =>
  lines.take(Buffer.from(text))?.toString();

it('gives out lines that have ended, and holds the rest', () => {
  const lines = new WholeLines(100);
  expect(taken(lines, 'a')).toBeUndefined();
  expect(taken(lines, 'b\nc\nd')).toBe('ab\nc\n');
  expect(taken(lines, 'e')).toBeUndefined();
  expect(taken(lines, '\n')).toBe('de\n');
  expect(taken(lines, '\n')).toBe('\n');
});

it('gives out a line that is too long before its end', () => {
  const lines = new WholeLines(4);
  expect(taken(lines, 'abcd')).toBeUndefined();
  expect(taken(lines, 'e')).toBe('abcde');
  expect(taken(lines, 'f\n')).toBe('f\n');
});

it('does not depend on a chunk whose memory is used again', () => {
  const lines = new WholeLines(100);
  const chunk = Buffer.from('ab');
  lines.take(chunk);
  chunk.fill('x');
  expect(taken(lines, '\n')).toBe('ab\n');
});
