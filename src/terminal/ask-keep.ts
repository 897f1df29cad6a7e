import type { ChangesPart, PicturePart } from '../contract/picture.js';
import { drawChangeTree } from './change-tree.js';
import { drawParts, type Palette } from './draw-picture.js';
import { ownWords } from './own-words.js';
import { pageLines } from './page-lines.js';
import { askKeyFor, askLineFor, ESCAPE, type PromptPlace } from './prompts.js';

export interface KeepQuestion extends PromptPlace {
  readonly palette: Palette;
  /** The changes, and the texts of the files among them. */
  readonly parts: readonly PicturePart[];
  /** Whether a pattern matches a path, in the person's spelling. */
  readonly matches: (pattern: string, path: string) => boolean;
}

/** `paths`: only these are kept; left out: all are kept. */
export type KeepAnswer =
  | { readonly kind: 'keep'; readonly paths?: readonly string[] }
  | { readonly kind: 'discard'; readonly isInterrupted: boolean };

/** Shows the changes of a command that the person ran, and asks which to keep. Without an answer, nothing is kept. */
export async function askKeep(question: KeepQuestion): Promise<KeepAnswer> {
  return new KeepDialogue(question).ask();
}

type Key = 'keep' | 'discard' | 'paths' | 'differences' | 'again';

const KEYS: Readonly<Record<string, Key>> = {
  k: 'keep',
  d: 'discard',
  p: 'paths',
  ' ': 'differences',
};

class KeepDialogue {
  readonly #question: KeepQuestion;
  readonly #part: ChangesPart | undefined;
  #chosen: ReadonlySet<string> | undefined;

  constructor(question: KeepQuestion) {
    this.#question = question;
    this.#part = question.parts.find((part) => part.kind === 'changes');
  }

  async ask(): Promise<KeepAnswer> {
    await this.#showTree();
    for (;;) {
      const key = await this.#askKey();
      if (key === 'keep') return this.#kept();
      if (key === 'discard') return { kind: 'discard', isInterrupted: false };
      if (key === 'paths') await this.#choose();
      else if (key === 'differences') await this.#showDifferences();
      else if (key !== 'again') {
        if (key === 'ended' || (await this.#isMeant())) return { kind: 'discard', isInterrupted: true };
      }
    }
  }

  #askKey(): Promise<Key | 'interrupt' | 'ended'> {
    const { screen } = this.#question;
    const count = this.#part?.entries.length ?? 0;
    const what = this.#chosen === undefined ? 'these changes' : `${this.#chosen.size} of ${count}`;
    const prompt = ownWords(
      `Keep ${what}? k keep · d discard · p choose paths · space differences:`,
      screen.columns,
      ' k'.length,
    );
    return askKeyFor(this.#question, prompt, 'k, d, p or space', (key) =>
      key === ESCAPE ? 'again' : KEYS[key],
    );
  }

  /** A single Ctrl-C is often typed from habit, and would lose a long session. */
  async #isMeant(): Promise<boolean> {
    const prompt = ownWords(
      'Discard everything? y or Ctrl-C discards, n goes back:',
      this.#question.screen.columns,
      2,
    );
    const key = await askKeyFor(this.#question, prompt, 'y or n', (typed) =>
      typed === 'y' ? 'yes' : typed === 'n' || typed === ESCAPE ? 'no' : undefined,
    );
    return key !== 'no';
  }

  #kept(): KeepAnswer {
    return this.#chosen === undefined ? { kind: 'keep' } : { kind: 'keep', paths: [...this.#chosen] };
  }

  async #choose(): Promise<void> {
    const { screen, matches } = this.#question;
    const prompt = ownWords(
      'Paths to keep, as shown: a directory is all in it, * and ** match, !path leaves out (Enter: back):',
      screen.columns,
      10,
    );
    const answer = await askLineFor(this.#question, prompt, 'paths, or Enter alone', (line) => ({ line }));
    if (typeof answer === 'string' || answer.line === '') return;
    const words = answer.line.split(/\s+/);
    const all = (this.#part?.entries ?? []).map(({ path }) => path);
    const isMeant = (pattern: string, path: string): boolean =>
      matches(pattern, path) || path.startsWith(`${pattern.replace(/\/$/, '')}/`);
    // If paths are only excluded, all others are kept.
    let chosen = words[0]?.startsWith('!') === true ? new Set(all) : new Set<string>();
    for (const word of words) {
      const isLeftOut = word.startsWith('!');
      const pattern = isLeftOut ? word.slice(1) : word;
      const found = all.filter((path) => isMeant(pattern, path));
      if (found.length === 0)
        screen.write(`${ownWords('Nothing that was changed matches one of these.', screen.columns)}\n`);
      chosen = isLeftOut
        ? new Set([...chosen].filter((path) => !found.includes(path)))
        : new Set([...chosen, ...found]);
    }
    if (chosen.size === 0) return;
    this.#chosen = chosen.size === all.length ? undefined : chosen;
    await this.#showTree();
  }

  async #showTree(): Promise<void> {
    const { screen, palette } = this.#question;
    if (this.#part === undefined) return;
    const chosen = this.#chosen === undefined ? {} : { chosen: this.#chosen };
    await this.#page(drawChangeTree(this.#part, { columns: screen.columns, palette, ...chosen }));
  }

  async #showDifferences(): Promise<void> {
    const { parts, screen, palette } = this.#question;
    const chosen = this.#chosen;
    const shown = parts.filter(
      (part) =>
        part.kind !== 'changes' && (chosen === undefined || !('path' in part) || chosen.has(part.path)),
    );
    const picture = { title: '', risk: 'low', reason: '', effects: [], dangerous: false } as const;
    const lines = drawParts({ ...picture, parts: shown }, { columns: screen.columns, palette, whole: true });
    await this.#page(lines.length === 0 ? ['No text has changed.'] : lines);
  }

  async #page(lines: readonly string[]): Promise<void> {
    const { screen, signal } = this.#question;
    await pageLines(lines, 'space continues, q ends the list', this.#question, async (prompt) => {
      const key = await screen.askKey(prompt, signal);
      screen.write('\n');
      return key !== undefined && key !== 'q' && key !== ESCAPE && key !== '\u0003';
    });
  }
}
