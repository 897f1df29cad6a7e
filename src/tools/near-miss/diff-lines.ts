const MAX_LINES = 40;
const MAX_WIDTH = 160;
const CONTEXT = 2;

/**
 * What was looked for (`-`) beside what the file has (`+`); equal lines around a difference as they are. Small: long
 * lines and long texts are cut.
 */
export function diffLines(sought: readonly string[], found: readonly string[]): string {
  const marked = align(sought.slice(0, MAX_LINES), found.slice(0, MAX_LINES));
  const isNear = (at: number): boolean =>
    marked.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ mark }) => mark !== ' ');
  const shown: string[] = [];
  for (const [at, { mark, line }] of marked.entries()) {
    if (isNear(at)) shown.push(mark + cut(line));
    else if (shown.at(-1) !== '...') shown.push('...');
  }
  if (Math.max(sought.length, found.length) > MAX_LINES) shown.push('...');
  return shown.join('\n');
}

interface Marked {
  readonly mark: ' ' | '-' | '+';
  readonly line: string;
}

/** The longest common subsequence, by the table: the texts are short. */
function align(a: readonly string[], b: readonly string[]): Marked[] {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const marked: Marked[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      marked.push({ mark: ' ', line: left });
      i++;
      j++;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      marked.push({ mark: '-', line: left });
      i++;
    } else {
      marked.push({ mark: '+', line: right ?? '' });
      j++;
    }
  }
  return marked;
}

function cut(line: string): string {
  return line.length > MAX_WIDTH ? `${line.slice(0, MAX_WIDTH)}... (${line.length} characters)` : line;
}
