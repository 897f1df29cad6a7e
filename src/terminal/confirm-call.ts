import type { Picture } from '../contract/picture.js';
import type { Palette } from './draw-picture.js';
import { ownWords } from './own-words.js';
import { askLineFor, type NoAnswer, type PromptPlace } from './prompts.js';
import { inOneLine, toPieces, toVisible } from './visible-text.js';

/** Asks for the second word for a high-risk call. */
export async function confirmCall(
  { title }: Picture,
  number: number,
  place: PromptPlace & { readonly palette: Palette },
): Promise<'yes' | 'back' | NoAnswer> {
  const { screen, palette } = place;
  const visible = toVisible(inOneLine(title), { lookalikes: true, isShortened: true });
  // The details are shown above: if the terminal wrapped them here, a part could look like a line of ours.
  const [shown = ''] = toPieces(visible, screen.columns - 10);
  screen.write(`${palette.red(`⚠ ${number}. ${shown}`)}\n`);
  const prompt = ownWords(CONFIRM, screen.columns, ' yes'.length);
  return askLineFor(place, prompt, 'yes and Enter, or Enter alone', (line) => {
    if (line === 'yes') return 'yes';
    return ['', 'n', 'no'].includes(line) ? 'back' : undefined;
  });
}

const CONFIRM = 'The risk is high. Type yes and Enter to run it, or Enter alone to go back:';
