import { diffLines } from 'diff';

/** A difference is given up after that long. */
const DIFF_MS = 500;

export interface ChangedLines {
  readonly added: number;
  readonly removed: number;
}

/** How many lines differ. Texts with nothing in common are wholly removed and added. */
export function countChanges(before: string, after: string): ChangedLines {
  const changes = diffLines(before, after, { timeout: DIFF_MS });
  if (changes === undefined) return { added: linesIn(after), removed: linesIn(before) };
  return {
    added: sum(changes.map(({ added, count }) => (added ? count : 0))),
    removed: sum(changes.map(({ removed, count }) => (removed ? count : 0))),
  };
}

/** A line end at the end begins no line. */
export function linesIn(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
