import { countLines, type Palette } from './draw-picture.js';
import { ownWords } from './own-words.js';
import type { QuestionScreen } from './question-screen.js';

/**
 * Shows lines one screen at a time, so that all were shown before a question. No line scrolls away unread, even if
 * a narrow window wraps the prompt.
 * @param keys the help text while lines remain, as in "any key continues"
 * @param goesOn reads the key below a prompt; false: the rest is not shown
 * @param next the prompt that follows the last line
 * @returns whether all were shown
 */
export async function pageLines(
  lines: readonly string[],
  keys: string,
  { screen, palette }: { readonly screen: QuestionScreen; readonly palette: Palette },
  goesOn: (prompt: string) => Promise<boolean>,
  next = '',
): Promise<boolean> {
  const promptFor = (left: number): string =>
    ownWords(`— ${countLines(left)} more: ${keys} —`, screen.columns, ' '.length);
  const below = Math.max(heightOf(promptFor(lines.length)), heightOf(next));
  const rows = Math.max(screen.rows - 1 - below, 1);
  for (let from = 0; from < lines.length; from += rows) {
    screen.write(`${lines.slice(from, from + rows).join('\n')}\n`);
    const left = lines.length - from - rows;
    if (left <= 0) break;
    if (!(await goesOn(`${palette.dim(promptFor(left))} `))) return false;
  }
  return true;
}

function heightOf(text: string): number {
  return text.split('\n').length;
}
