import { countLines, type Palette } from './draw-picture.js';
import { ownWords } from './own-words.js';
import type { QuestionScreen } from './question-screen.js';

/**
 * Shows lines one screen at a time, so that all were shown before a question.
 * @param keys the help text while lines remain, as in "any key continues"
 * @param goesOn reads the key below a prompt; false: the rest is not shown
 * @returns whether all were shown
 */
export async function pageLines(
  lines: readonly string[],
  keys: string,
  { screen, palette }: { readonly screen: QuestionScreen; readonly palette: Palette },
  goesOn: (prompt: string) => Promise<boolean>,
): Promise<boolean> {
  const rows = Math.max(screen.rows - 2, 5);
  for (let from = 0; from < lines.length; from += rows) {
    screen.write(`${lines.slice(from, from + rows).join('\n')}\n`);
    const left = lines.length - from - rows;
    if (left <= 0) break;
    const prompt = palette.dim(ownWords(`— ${countLines(left)} more: ${keys} —`, screen.columns));
    if (!(await goesOn(`${prompt} `))) return false;
  }
  return true;
}
