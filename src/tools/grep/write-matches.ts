import type { FileMatches, SearchLine } from '../../contract/search.js';
import { showPath } from '../show-path.js';

export interface MatchesShape {
  readonly want: 'lines' | 'files' | 'counts';
  readonly lineNumbers: boolean;
  /** Neighbours of matches are shown, so what is not next to each other is set apart. */
  readonly hasContext: boolean;
}

/** One line of output, and the file it speaks of: an index. */
export interface WrittenLine {
  readonly text: string;
  readonly file: number;
}

/** Results in the words of grep: `path:12:text`, `path-13-text` for context, `--` where lines are passed over. */
export function writeMatches(files: readonly FileMatches[], shape: MatchesShape): WrittenLine[] {
  return files.flatMap((found, file) => {
    const path = showPath(found.path);
    if (shape.want === 'files') return [{ text: path, file }];
    if (shape.want === 'counts') return [{ text: `${path}:${found.count}`, file }];
    const lines = found.lines.map((line) => ({ text: writeLine(path, line, shape), file }));
    if (found.binary) lines.push({ text: `${path}: binary file matches`, file });
    return shape.hasContext && file > 0 ? [{ text: '--', file }, ...lines] : lines;
  });
}

function writeLine(path: string, line: SearchLine, { lineNumbers }: MatchesShape): string {
  if (line.kind === 'gap') return '--';
  const mark = line.kind === 'match' ? ':' : '-';
  return `${path}${mark}${lineNumbers ? `${line.number}${mark}` : ''}${line.text}`;
}
