import type { ApprovalDecision, ApprovalRequest } from '../contract/approval.js';
import type { JsonObject } from '../contract/json.js';
import type { Picture } from '../contract/picture.js';
import { drawPicture, type Palette } from './draw-picture.js';
import { ownWords } from './own-words.js';
import { pageLines } from './page-lines.js';
import { type QuestionScreen, readKeyOrResize } from './question-screen.js';
import { inOneLine, toPieces, toVisible } from './visible-text.js';

/** A rule that would allow a call from now on. */
export interface ProposedRule {
  /** As it would be written. */
  readonly text: string;
  readonly file: string;
  /** Calls of the journal's past that it would have allowed too, in words. */
  readonly alsoAllows: readonly string[];
  write(): Promise<void>;
}

export interface ApprovalQuestion {
  readonly requests: readonly ApprovalRequest[];
  readonly screen: QuestionScreen;
  readonly palette: Palette;
  readonly signal: AbortSignal;
  describe(request: ApprovalRequest): Picture;
  /** Opens the person's editor; undefined: nothing was changed. A throw says what is wrong with what was written. */
  edit?(args: JsonObject): Promise<JsonObject | undefined>;
  /** Undefined: no rule can say it. */
  propose?(request: ApprovalRequest): Promise<ProposedRule | undefined>;
}

/** What the person wants; `cancel` (Escape) and `interrupt` (Ctrl-C) decide nothing: nothing of the batch runs. */
export type Answer = ApprovalDecision | 'cancel' | 'interrupt';

const KEYS = `
  y  run all             n  run none
  1  select or deselect the first, 2 the second…; Enter runs the selected
  d  show all of a call  e  edit its arguments in $EDITOR
  r  refuse it, with a reason that the model reads
  w  always: a rule for calls like it, written after a second y
  ?  these keys          Esc or Ctrl-C  cancel the batch
`;

/**
 * Shows every call that needs consent, all at once, and takes single keys until it is clear what runs (D034, D090). A
 * dangerous call runs only after the word `yes`. No answer agrees to nothing.
 */
export async function askApproval(question: ApprovalQuestion): Promise<Answer> {
  return new Question(question).ask();
}

class Question {
  readonly #question: ApprovalQuestion;
  readonly #pictures: readonly Picture[];
  readonly #selected = new Set<number>();
  readonly #edits = new Map<number, JsonObject>();
  readonly #reasons = new Map<number, string>();
  /** All keys were named once. */
  #isAsked = false;
  /** It is not drawn yet, or for a window of another size. */
  #isStale = true;

  constructor(question: ApprovalQuestion) {
    this.#question = question;
    this.#pictures = question.requests.map((request) => question.describe(request));
  }

  async ask(): Promise<Answer> {
    const { screen, signal } = this.#question;
    const forget = screen.onResize(() => {
      this.#isStale = true;
    });
    try {
      let answer: Answer | undefined;
      while (answer === undefined) {
        // Also where the window has changed while an editor or a page was there.
        if (this.#isStale) {
          this.#isStale = false;
          answer = await this.#show();
          continue;
        }
        this.#write(`${this.#prompt()} `);
        const typed = await readKeyOrResize(screen, signal);
        if (typed === 'resized') {
          this.#write('\n');
          this.#isStale = true;
          continue;
        }
        this.#write(isPrintable(typed.key) ? `${typed.key}\n` : '\n');
        answer = await this.#take(typed.key);
      }
      return answer;
    } finally {
      forget();
    }
  }

  /** All there is to decide about, for the screen as it is now. */
  #show(): Promise<Answer | undefined> {
    const { requests, palette } = this.#question;
    const count = requests.length === 1 ? '1 call needs' : `${requests.length} calls need`;
    const drawn = this.#pictures.flatMap((_, index) => [
      '',
      ...this.#draw(index, false),
      ...this.#edited(index),
    ]);
    return this.#page(['', palette.bold(`${count} your approval`), ...drawn, '']);
  }

  #edited(index: number): readonly string[] {
    const edited = this.#edits.get(index);
    if (edited === undefined) return [];
    const { columns } = this.#question.screen;
    const json = toVisible(JSON.stringify(edited, null, 2), { lookalikes: true });
    const lines = json.split('\n').flatMap((line) => toPieces(line, columns - 4));
    return [`${index + 1}. would run with these arguments:`, ...lines.map((line) => `   ${line}`)];
  }

  #prompt(): string {
    const { palette } = this.#question;
    const chosen = [...this.#selected].sort((a, b) => a - b).map((index) => index + 1);
    const state = chosen.length === 0 ? '' : ` (selected: ${chosen.join(', ')}; Enter runs them)`;
    const more = this.#isAsked ? '' : ' · d details · e edit · r refuse with a reason · w always';
    const keys = `y all · n none · numbers select${more} · ? keys`;
    this.#isAsked = true;
    const prompt = ownWords(`Run these? ${keys}${state}:`, this.#question.screen.columns, ' '.length);
    return prompt.replace('Run these?', palette.bold);
  }

  /** What a key does; undefined: the question stays open. */
  async #take(key: string | undefined): Promise<Answer | undefined> {
    switch (key) {
      case undefined:
      case '\u0004':
        return { kind: 'deny_all', reason: 'no answer was given' };
      case '\u001b':
        return 'cancel';
      case '\u0003':
        return 'interrupt';
      case 'y':
      case 'Y':
      case 'a':
        return this.#run(this.#all().filter((index) => !this.#reasons.has(index)));
      case 'n':
      case 'N':
        return { kind: 'deny_all' };
      case '\r':
      case '\n':
        return this.#runSelected();
      case '?':
        this.#write(ownWords(KEYS, this.#question.screen.columns));
        return undefined;
      case 'd':
        return this.#details();
      case 'e':
        return this.#edit();
      case 'r':
        return this.#refuse();
      case 'w':
        return this.#always();
      default:
        return this.#select(key);
    }
  }

  async #runSelected(): Promise<Answer | undefined> {
    const { screen } = this.#question;
    if (this.#selected.size > 0) return this.#run([...this.#selected]);
    const words = 'Nothing is selected. y runs all, n none, ? shows the keys.';
    this.#write(`${ownWords(words, screen.columns)}\n`);
    return undefined;
  }

  /** More than nine are selected with as many digits as the last one has. */
  async #select(first: string): Promise<undefined> {
    if (!/^[0-9]$/.test(first)) return undefined;
    const { length } = this.#question.requests;
    let digits = first;
    while (digits.length < String(length).length) {
      this.#write(`${digits}… `);
      const key = await this.#key();
      this.#write('\n');
      if (key === undefined || !/^[0-9]$/.test(key)) break;
      digits += key;
    }
    const index = Number(digits) - 1;
    if (index < 0 || index >= length) this.#write(`There is no call ${digits}.\n`);
    else if (!this.#selected.delete(index)) {
      this.#selected.add(index);
      this.#reasons.delete(index);
    }
    return undefined;
  }

  /** Consent to some calls, once the dangerous ones have had their second word. */
  async #run(indexes: readonly number[]): Promise<Answer | undefined> {
    const chosen = [...indexes].sort((a, b) => a - b);
    for (const index of chosen) {
      if (this.#pictures[index]?.dangerous === true && !(await this.#confirm(index))) return undefined;
    }
    const { requests } = this.#question;
    if (chosen.length === requests.length && this.#edits.size === 0) return { kind: 'approve_all' };
    const byId = <T>(values: ReadonlyMap<number, T>): Record<string, T> =>
      Object.fromEntries([...values].map(([index, value]) => [this.#request(index).callId, value]));
    return {
      kind: 'approve_selected',
      ids: chosen.map((index) => this.#request(index).callId),
      edits: byId(this.#edits),
      reasons: byId(this.#reasons),
    };
  }

  async #confirm(index: number): Promise<boolean> {
    const { palette, screen, signal } = this.#question;
    const title = toVisible(inOneLine(this.#pictures[index]?.title ?? ''), {
      lookalikes: true,
      isShortened: true,
    });
    // The rest of it stands above: wrapped by the terminal it could pass for a line of ours.
    const [shown = ''] = toPieces(title, screen.columns - 10);
    this.#write(
      `${palette.red(`⚠ ${index + 1}. ${shown}`)}\n${ownWords('This call is dangerous. Type yes and Enter to run it:', screen.columns, ' yes'.length)} `,
    );
    return (await screen.readLine(signal))?.trim() === 'yes';
  }

  async #details(): Promise<Answer | undefined> {
    const index = await this.#which('Show all of which call?');
    return index === undefined ? undefined : this.#page(['', ...this.#draw(index, true), '']);
  }

  async #edit(): Promise<undefined> {
    const { edit } = this.#question;
    if (edit === undefined) {
      this.#write('There is no editor: set EDITOR.\n');
      return undefined;
    }
    const index = await this.#which('Edit the arguments of which call?');
    if (index === undefined) return undefined;
    try {
      const edited = await edit(this.#edits.get(index) ?? this.#request(index).args);
      if (edited === undefined) this.#write('The arguments stay as they are.\n');
      else {
        this.#edits.set(index, edited);
        this.#write(`${this.#edited(index).join('\n')}\n`);
      }
    } catch (error) {
      this.#write(
        `Nothing was changed: ${toVisible(error instanceof Error ? error.message : String(error))}\n`,
      );
    }
    return undefined;
  }

  async #refuse(): Promise<Answer | undefined> {
    const { screen, signal, requests } = this.#question;
    const index = await this.#which('Refuse which call?');
    if (index === undefined) return undefined;
    this.#write('Reason, for the model (Enter: none): ');
    const reason = await screen.readLine(signal);
    if (reason === undefined) return { kind: 'deny_all', reason: 'no answer was given' };
    if (requests.length === 1) return { kind: 'deny_all', ...(reason === '' ? {} : { reason }) };
    this.#selected.delete(index);
    this.#reasons.set(index, reason);
    if (this.#reasons.size < requests.length) return undefined;
    return this.#run([]);
  }

  async #always(): Promise<undefined> {
    const { propose, palette } = this.#question;
    const index = await this.#which('Always allow calls like which one?');
    if (index === undefined) return undefined;
    const rule = await propose?.(this.#request(index)).catch(() => undefined);
    if (rule === undefined) {
      const words = 'No rule can say this safely: it would allow more than this call. Answer for this time.';
      this.#write(`${ownWords(words, this.#question.screen.columns)}\n`);
      return undefined;
    }
    const others = rule.alsoAllows.length;
    this.#write(`\n${toVisible(rule.text, { lookalikes: true }).replace(/^/gm, '   ')}\n`);
    this.#write(
      others === 0
        ? 'It would have allowed no other call in the journal.\n'
        : `It would have allowed ${others === 1 ? '1 other call' : `${others} other calls`} in the journal:\n${rule.alsoAllows
            .slice(0, 10)
            .map((text) => `   ${toVisible(inOneLine(text), { lookalikes: true })}\n`)
            .join('')}`,
    );
    this.#write(palette.bold(`Write it to ${toVisible(rule.file)}? y writes it, any other key does not: `));
    const key = await this.#key();
    this.#write(isPrintable(key) ? `${key}\n` : '\n');
    if (key !== 'y') return undefined;
    try {
      await rule.write();
      this.#selected.add(index);
      this.#write(`Written. Call ${index + 1} is selected; Enter runs the selected.\n`);
    } catch (error) {
      this.#write(
        `Nothing was written: ${toVisible(error instanceof Error ? error.message : String(error))}\n`,
      );
    }
    return undefined;
  }

  async #which(text: string): Promise<number | undefined> {
    const { requests, screen, signal } = this.#question;
    if (requests.length === 1) return 0;
    this.#write(`${text} Its number: `);
    const digits = requests.length > 9 ? await screen.readLine(signal) : await this.#key();
    if (requests.length <= 9) this.#write(isPrintable(digits) ? `${digits}\n` : '\n');
    const index = Number(digits?.trim()) - 1;
    if (requests[index] !== undefined) return index;
    this.#write('There is no such call.\n');
    return undefined;
  }

  /** Shows lines a screen at a time: consent is asked for only when all were seen. */
  async #page(lines: readonly string[]): Promise<Answer | undefined> {
    let answer: Answer | undefined;
    await pageLines(lines, 'any key goes on, n refuses all', this.#question, async () => {
      const key = await this.#key();
      this.#write('\n');
      if (key === undefined || key === 'n') answer = { kind: 'deny_all' };
      else if (key === '\u001b') answer = 'cancel';
      else if (key === '\u0003') answer = 'interrupt';
      return answer === undefined;
    });
    return answer;
  }

  #draw(index: number, whole: boolean): readonly string[] {
    const { palette, screen } = this.#question;
    const picture = this.#pictures[index];
    if (picture === undefined) return [];
    const { agent, changed, callId, toolName } = this.#request(index);
    const head = { number: index + 1, toolName, callId };
    const lines = drawPicture(picture, head, { columns: screen.columns, palette, whole });
    const notes = [
      ...(agent === undefined ? [] : [`   asked by the sub-agent ${toVisible(inOneLine(agent))}`]),
      ...(changed === undefined
        ? []
        : [`   changed since it was shown: ${toVisible(inOneLine(changed.join(', ')))}`]),
    ];
    return [...lines, ...notes];
  }

  #all(): readonly number[] {
    return this.#pictures.map((_, index) => index);
  }

  #request(index: number): ApprovalRequest {
    return this.#question.requests[index] as ApprovalRequest;
  }

  #key(): Promise<string | undefined> {
    const { screen, signal } = this.#question;
    return screen.readKey(signal);
  }

  #write(text: string): void {
    this.#question.screen.write(text);
  }
}

function isPrintable(key: string | undefined): key is string {
  return key !== undefined && /^[ -~]$/.test(key);
}
