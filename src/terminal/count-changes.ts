import { diffLines } from 'diff';

/** Time limit for a diff. */
const DIFF_MS = 500;

export interface ChangedLines {
  readonly added: number;
  readonly removed: number;
}

/** The number of changed lines. Texts without a common line count as wholly removed and added. */
export function countChanges(before: string, after: string): ChangedLines {
  const changes = diffLines(before, after, { timeout: DIFF_MS });
  if (changes === undefined) return { added: linesIn(after), removed: linesIn(before) };
  return {
    added: sum(changes.map(({ added, count }) => (added ? count : 0))),
    removed: sum(changes.map(({ removed, count }) => (removed ? count : 0))),
  };
}

/** A line end at the end starts no new line. */
export function linesIn(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
