import type { Settlement } from '../contract/journal.js';
import { drawCall, drawTitle, type Palette, type PictureHead } from './draw-picture.js';
import { ownWords } from './own-words.js';
import { pageLines } from './page-lines.js';
import { askKeyFor, askKeyOrResize, CTRL_C, CTRL_D, ESCAPE, isBack, refusalOf } from './prompts.js';
import type { QuestionScreen } from './question-screen.js';

/** A call of a batch that a crash interrupted. */
export interface CutCall extends Omit<PictureHead, 'number'> {
  /** The known state in a few fixed words, such as "done" or "never started". */
  readonly state: string;
  /** Its task and the known facts; untrusted text. */
  readonly lines: readonly string[];
  /** Its outcome is unknown. */
  readonly isUnknown: boolean;
}

export interface RecoveryQuestion {
  readonly batchId: string;
  readonly conversation: string;
  readonly calls: readonly CutCall[];
  readonly screen: QuestionScreen;
  readonly palette: Palette;
  readonly signal: AbortSignal;
}

export type RecoveryAnswer =
  | { readonly kind: 'resume'; readonly settled: Readonly<Record<string, Settlement>> }
  | { readonly kind: 'discard' }
  | { readonly kind: 'later' }
  /** Ctrl-C. */
  | { readonly kind: 'interrupt' };

const KEYS = `
  r  the results count as they are, and as you have said what took effect
  d  all of it counts as failed, also what was done; toolexec undo puts files back
  s  say what became of each call that is not known
  Enter or Esc  decide later    Ctrl-C  leave
`;

/** Shows a batch that a crash interrupted, and asks which results count (D089). No answer decides nothing. */
export async function askRecovery(question: RecoveryQuestion): Promise<RecoveryAnswer> {
  return new RecoveryDialogue(question).ask();
}

class RecoveryDialogue {
  readonly #question: RecoveryQuestion;
  readonly #settled = new Map<string, Settlement>();
  #isShown = false;
  /** Shown with the next prompt. */
  #said = '';

  constructor(question: RecoveryQuestion) {
    this.#question = question;
  }

  async ask(): Promise<RecoveryAnswer> {
    for (;;) {
      const answer = this.#isShown ? await this.#ask() : await this.#show();
      if (answer !== undefined) return answer;
    }
  }

  /** Shows everything to decide, one screen at a time; from the start if the window size changed. */
  async #show(): Promise<RecoveryAnswer | undefined> {
    const { batchId, conversation, calls, palette, screen, signal } = this.#question;
    const title = `A process died in the middle of batch ${batchId} (conversation ${conversation}).`;
    const head = drawTitle(title, { columns: screen.columns, palette });
    const drawn = calls.flatMap((_, index) => ['', ...this.#draw(index)]);
    const lines = ['', ...head, 'Nothing of it runs again.', ...drawn, ''];
    let answer: RecoveryAnswer | undefined;
    this.#isShown = await pageLines(
      lines,
      'any key continues, Esc decides later',
      this.#question,
      async (prompt) => {
        const typed = await askKeyOrResize(screen, prompt, signal);
        if (typed === 'resized') return false;
        if (typed.key === CTRL_C) answer = { kind: 'interrupt' };
        else if (typed.key === undefined || typed.key === CTRL_D || typed.key === ESCAPE)
          answer = { kind: 'later' };
        return answer === undefined;
      },
    );
    return answer;
  }

  #draw(index: number): readonly string[] {
    const { calls, palette, screen } = this.#question;
    const call = calls[index];
    if (call === undefined) return [];
    const verdict = this.#settled.get(call.callId);
    const said = verdict === undefined ? call.state : `${SAID[verdict]}, you say`;
    const paint = call.isUnknown && verdict === undefined ? palette.yellow : palette.bold;
    return drawCall({ ...call, number: index + 1 }, paint(said), call.lines, {
      columns: screen.columns,
      palette,
    });
  }

  /** Undefined: the question stays open. */
  async #ask(): Promise<RecoveryAnswer | undefined> {
    const { calls, screen, signal, palette } = this.#question;
    const decide = calls.some(({ isUnknown }) => isUnknown) ? ' · s say what took effect' : '';
    const words = `What counts? r resume · d discard${decide} · Enter later · ? keys:`;
    const prompt = ownWords(words, screen.columns, ' y'.length).replace(/^What counts\?/, palette.bold);
    const said = this.#said;
    this.#said = '';
    const typed = await askKeyOrResize(screen, `${said}${prompt} `, signal);
    if (typed !== 'resized') return this.#take(typed.key);
    this.#isShown = false;
    return undefined;
  }

  async #take(key: string | undefined): Promise<RecoveryAnswer | undefined> {
    switch (key) {
      case 'r':
      case 'R':
        return { kind: 'resume', settled: Object.fromEntries(this.#settled) };
      case 'd':
      case 'D':
        return this.#discard();
      case 's':
        return this.#askUnknown();
      case '?':
        this.#write(ownWords(KEYS, this.#question.screen.columns));
        return undefined;
      case CTRL_C:
        return { kind: 'interrupt' };
      case undefined:
      case CTRL_D:
      case ESCAPE:
      case '\r':
      case '\n':
        return { kind: 'later' };
      default:
        this.#said = refusalOf(this.#question.screen, key, 'r, d or Enter is expected, and ? shows all keys');
        return undefined;
    }
  }

  /** Asks again, because discarding cannot be undone. */
  async #discard(): Promise<RecoveryAnswer | undefined> {
    const done = this.#question.calls.filter(
      ({ isUnknown, state }) => !isUnknown && state.startsWith('done'),
    );
    const what = done.length === 0 ? '' : ', also what was done';
    const words = `All of it counts as failed${what}. Sure? y it does, n goes back:`;
    const answer = await this.#askKey(words, 'y or n', (key) =>
      key === 'y' ? 'discard' : key === 'n' || isBack(key) ? 'back' : undefined,
    );
    if (answer === 'interrupt') return { kind: 'interrupt' };
    return answer === 'discard' ? { kind: 'discard' } : undefined;
  }

  async #askUnknown(): Promise<RecoveryAnswer | undefined> {
    const words = 'Did it take effect? y yes · n no · Enter: not known:';
    for (const [index, { callId, isUnknown }] of this.#question.calls.entries()) {
      if (!isUnknown) continue;
      this.#write(`${this.#draw(index).join('\n')}\n`);
      const answer = await this.#askKey(words, 'y, n or Enter', (key): Settlement | 'unknown' | undefined => {
        if (key === 'y') return 'applied';
        return key === 'n' ? 'not_applied' : isBack(key) ? 'unknown' : undefined;
      });
      if (answer === 'interrupt') return { kind: 'interrupt' };
      if (answer === 'applied' || answer === 'not_applied') this.#settled.set(callId, answer);
      else this.#settled.delete(callId);
    }
    this.#isShown = false;
    return undefined;
  }

  #askKey<T>(words: string, expected: string, read: (key: string) => T | undefined) {
    const prompt = ownWords(words, this.#question.screen.columns, ' y'.length);
    return askKeyFor(this.#question, prompt, expected, read);
  }

  #write(text: string): void {
    this.#question.screen.write(text);
  }
}

const SAID: Readonly<Record<Settlement, string>> = { applied: 'done', not_applied: 'not done' };
