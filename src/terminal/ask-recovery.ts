import type { Settlement } from '../contract/journal.js';
import { drawCall, drawTitle, type Palette, type PictureHead } from './draw-picture.js';
import { ownWords } from './own-words.js';
import { pageLines } from './page-lines.js';
import { type QuestionScreen, readKeyOrResize } from './question-screen.js';

/** A call of a batch that a crash has cut. */
export interface CutCall extends Omit<PictureHead, 'number'> {
  /** In a few words of ours: done, never started. */
  readonly state: string;
  /** What it was to do, and what is known of it; from elsewhere. */
  readonly lines: readonly string[];
  /** What became of it is not known. */
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
  r  the results count as they are, and as you have settled them
  d  all of it counts as failed, also what was done; toolexec undo puts files back
  s  say what became of each call that is not known
  Enter or Esc  decide later    Ctrl-C  leave
`;

/** Shows what a crash has left of a batch, and asks what counts (D089). No answer decides nothing. */
export async function askRecovery(question: RecoveryQuestion): Promise<RecoveryAnswer> {
  return new RecoveryDialogue(question).ask();
}

class RecoveryDialogue {
  readonly #question: RecoveryQuestion;
  readonly #settled = new Map<string, Settlement>();
  #isShown = false;

  constructor(question: RecoveryQuestion) {
    this.#question = question;
  }

  async ask(): Promise<RecoveryAnswer> {
    for (;;) {
      const answer = this.#isShown ? await this.#take(await this.#read(this.#prompt())) : await this.#show();
      if (answer !== undefined) return answer;
    }
  }

  /** All there is to decide about, a screen at a time; from the front where the window has another size meanwhile. */
  async #show(): Promise<RecoveryAnswer | undefined> {
    const { batchId, conversation, calls, palette, screen, signal } = this.#question;
    const title = `A process died in the middle of batch ${batchId} (conversation ${conversation}).`;
    const head = drawTitle(title, { columns: screen.columns, palette });
    const drawn = calls.flatMap((_, index) => ['', ...this.#draw(index)]);
    const lines = ['', ...head, 'Nothing of it runs again.', ...drawn, ''];
    let answer: RecoveryAnswer | undefined;
    this.#isShown = await pageLines(lines, 'any key goes on, Esc decides later', this.#question, async () => {
      const typed = await readKeyOrResize(screen, signal);
      this.#write('\n');
      if (typed === 'resized') return false;
      if (typed.key === '\u0003') answer = { kind: 'interrupt' };
      else if (typed.key === undefined || /[\u0004\u001b]/.test(typed.key)) answer = { kind: 'later' };
      return answer === undefined;
    });
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

  #prompt(): string {
    const unknown = this.#question.calls.some(({ isUnknown }) => isUnknown);
    const settle = unknown ? ' · s settle what is not known' : '';
    return `What counts? r resume · d discard${settle} · Enter later · ? keys:`;
  }

  /** Undefined: the question stays open. */
  async #take(key: string | undefined): Promise<RecoveryAnswer | undefined> {
    switch (key) {
      case 'r':
      case 'R':
        return { kind: 'resume', settled: Object.fromEntries(this.#settled) };
      case 'd':
      case 'D':
        return (await this.#isSure()) ? { kind: 'discard' } : undefined;
      case 's':
        return this.#settle();
      case '?':
        this.#write(ownWords(KEYS, this.#question.screen.columns));
        return undefined;
      case '\u0003':
        return { kind: 'interrupt' };
      case undefined:
      case '\u0004':
      case '\u001b':
      case '\r':
      case '\n':
        return { kind: 'later' };
      default:
        return undefined;
    }
  }

  /** It cannot be taken back. */
  async #isSure(): Promise<boolean> {
    const done = this.#question.calls.filter(
      ({ isUnknown, state }) => !isUnknown && state.startsWith('done'),
    );
    const what = done.length === 0 ? '' : ', also what was done';
    return (
      (await this.#read(`All of it counts as failed${what}. Sure? y it does, any other key goes back:`)) ===
      'y'
    );
  }

  async #settle(): Promise<RecoveryAnswer | undefined> {
    for (const [index, { callId, isUnknown }] of this.#question.calls.entries()) {
      if (!isUnknown) continue;
      let key: string | undefined;
      do {
        this.#write(`${this.#draw(index).join('\n')}\n`);
        key = await this.#read('Did it take effect? y yes · n no · any other key: not known:');
      } while (key === 'resized');
      if (key === '\u0003') return { kind: 'interrupt' };
      if (key === 'y') this.#settled.set(callId, 'applied');
      else if (key === 'n') this.#settled.set(callId, 'not_applied');
      else this.#settled.delete(callId);
    }
    this.#isShown = false;
    return undefined;
  }

  /** A key below words of ours, or `resized`: all has to be shown again. */
  async #read(words: string): Promise<string | undefined> {
    const { screen, signal, palette } = this.#question;
    const prompt = ownWords(words, screen.columns, ' y'.length);
    this.#write(`${prompt.replace(/^What counts\?/, palette.bold)} `);
    const typed = await readKeyOrResize(screen, signal);
    if (typed === 'resized') {
      this.#isShown = false;
      this.#write('\n');
      return typed;
    }
    this.#write(typed.key !== undefined && /^[ -~]$/.test(typed.key) ? `${typed.key}\n` : '\n');
    return typed.key;
  }

  #write(text: string): void {
    this.#question.screen.write(text);
  }
}

const SAID: Readonly<Record<Settlement, string>> = { applied: 'done', not_applied: 'not done' };
