import type { ApprovalDecision, ApprovalRequest } from '../contract/approval.js';
import type { JsonObject } from '../contract/json.js';
import type { Picture } from '../contract/picture.js';
import { type ApprovalKeys, describeKeys, numbers, promptOf, verbOf } from './approval-keys.js';
import { confirmCall } from './confirm-call.js';
import { drawPicture, type Palette } from './draw-picture.js';
import { offerRule, type ProposedRule } from './offer-rule.js';
import { ownWords } from './own-words.js';
import { pageLines } from './page-lines.js';
import {
  askKeyFor,
  askKeyOrResize,
  askLineFor,
  CTRL_C,
  CTRL_D,
  ESCAPE,
  isBack,
  type NoAnswer,
  refusalOf,
} from './prompts.js';
import type { QuestionScreen } from './question-screen.js';
import { inOneLine, toPieces, toVisible } from './visible-text.js';

export interface ApprovalQuestion {
  readonly requests: readonly ApprovalRequest[];
  readonly screen: QuestionScreen;
  readonly palette: Palette;
  readonly signal: AbortSignal;
  describe(request: ApprovalRequest): Picture;
  /** Opens the person's editor; undefined if nothing changed. A throw explains a fault in the edited text. */
  edit?(args: JsonObject): Promise<JsonObject | undefined>;
  /** If absent, no rule can allow such requests. The result undefined: no rule can express it. */
  propose?(request: ApprovalRequest): Promise<ProposedRule | undefined>;
}

/** The person's answer. `cancel` (Escape) and `interrupt` (Ctrl-C) decide nothing, and no call of the batch runs. */
export type Answer = ApprovalDecision | 'cancel' | 'interrupt';

/**
 * Shows all calls that need approval and reads single keys until it is clear what runs (D034, D090). A
 * high-risk call runs only after the word `yes`. No answer approves nothing, and input for one prompt never
 * answers another.
 */
export async function askApproval(question: ApprovalQuestion): Promise<Answer> {
  return new Question(question).ask();
}

/** The question stays open. */
type StillOpen = undefined;

class Question {
  readonly #question: ApprovalQuestion;
  readonly #pictures: readonly Picture[];
  readonly #keys: ApprovalKeys;
  readonly #selected = new Set<number>();
  readonly #edits = new Map<number, JsonObject>();
  readonly #reasons = new Map<number, string>();
  /** Shown with the next prompt, so that the person can read it before answering. */
  #said = '';
  /** The keys have been listed once. */
  #isAsked = false;
  /** The question is not drawn yet, or was drawn for another window size. */
  #isStale = true;

  constructor(question: ApprovalQuestion) {
    this.#question = question;
    this.#pictures = question.requests.map((request) => question.describe(request));
    // The arguments of a call that has run can no longer be changed.
    const edits = question.requests.some(({ changes }) => changes === undefined);
    this.#keys = { edits, proposes: question.propose !== undefined };
  }

  async ask(): Promise<Answer> {
    const { screen, signal } = this.#question;
    const forget = screen.onResize(() => {
      this.#isStale = true;
    });
    try {
      let answer: Answer | StillOpen;
      while (answer === undefined) {
        // Also if the window changed while an editor or a page was open.
        if (this.#isStale) {
          this.#isStale = false;
          answer = await this.#show();
          continue;
        }
        const prompt = `${this.#said}${this.#prompt(!this.#isAsked)} `;
        this.#isAsked = true;
        this.#said = '';
        const typed = await askKeyOrResize(screen, prompt, signal);
        if (typed === 'resized') this.#isStale = true;
        else answer = await this.#take(typed.key);
      }
      return answer;
    } finally {
      forget();
    }
  }

  /** Shows everything to decide, for the current screen. */
  #show(): Promise<Answer | StillOpen> {
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

  #prompt(isFirst: boolean): string {
    const { palette, screen } = this.#question;
    const state = { selected: this.#selected, refused: new Set(this.#reasons.keys()), isFirst };
    return promptOf(this.#keys, state, screen.columns, palette.bold);
  }

  async #take(key: string | undefined): Promise<Answer | StillOpen> {
    switch (key) {
      case undefined:
      case CTRL_D:
        return NOT_ANSWERED;
      case ESCAPE:
        return 'cancel';
      case CTRL_C:
        return 'interrupt';
      case 'y':
      case 'Y':
        return this.#run(this.#selected.size > 0 ? [...this.#selected] : this.#open());
      case 'n':
      case 'N':
        return this.#reasons.size === 0 ? { kind: 'deny_all' } : this.#run([]);
      case '\r':
      case '\n':
        return this.#runSelected();
      case '?':
        return this.#say(describeKeys(this.#keys), '');
      case 'd':
        return this.#details();
      case 'r':
        return this.#refuse();
      default:
        if (key === 'e' && this.#keys.edits) return this.#edit();
        if (key === 'w' && this.#keys.proposes) return this.#always();
        if (/^[0-9]$/.test(key)) return this.#select(key);
        this.#said += refusalOf(
          this.#question.screen,
          key,
          'y, n or a number is expected, and ? shows all keys',
        );
        return undefined;
    }
  }

  async #runSelected(): Promise<Answer | StillOpen> {
    if (this.#selected.size > 0) return this.#run([...this.#selected]);
    return this.#say(`Nothing is selected. y ${verbOf(this.#keys)}s all, n none, ? shows the keys.`);
  }

  /** With more than nine calls, all numbers have as many digits as the last one. */
  async #select(first: string): Promise<Answer | StillOpen> {
    const { length } = this.#question.requests;
    let digits = first;
    while (digits.length < String(length).length) {
      const next = await this.#askKey(`${digits}…`, 'another digit, or Enter', (key) => {
        if (key === ESCAPE) return 'back';
        return isBack(key) ? 'done' : /^[0-9]$/.exec(key)?.[0];
      });
      if (isNoAnswer(next)) return answerOf(next);
      if (next === 'back') return undefined;
      if (next === 'done') break;
      digits += next;
    }
    const index = Number(digits) - 1;
    if (index < 0 || index >= length) return this.#say(`There is no call ${digits}.`);
    if (!this.#selected.delete(index)) {
      this.#selected.add(index);
      this.#reasons.delete(index);
    }
    return undefined;
  }

  /** Approves calls, after the second word for each high-risk call. */
  async #run(indexes: readonly number[]): Promise<Answer | StillOpen> {
    const chosen = [...indexes].sort((a, b) => a - b);
    for (const index of chosen) {
      const picture = this.#pictures[index];
      if (picture?.dangerous !== true) continue;
      const said = await confirmCall(picture, index + 1, this.#question);
      if (said !== 'yes') return said === 'back' ? undefined : answerOf(said);
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

  async #details(): Promise<Answer | StillOpen> {
    const index = await this.#which('Show all of which call?');
    return typeof index === 'number' ? this.#page(['', ...this.#draw(index, true), '']) : answerOf(index);
  }

  async #edit(): Promise<Answer | StillOpen> {
    const { edit } = this.#question;
    if (edit === undefined) return this.#say('There is no editor: set EDITOR.');
    const index = await this.#which('Edit the arguments of which call?');
    if (typeof index !== 'number') return answerOf(index);
    try {
      const edited = await edit(this.#edits.get(index) ?? this.#request(index).args);
      if (edited === undefined) return this.#say('The arguments stay as they are.');
      this.#edits.set(index, edited);
      this.#write(`${this.#edited(index).join('\n')}\n`);
    } catch (error) {
      this.#write(`Nothing was changed: ${toVisible(reasonOf(error))}\n`);
    }
    return undefined;
  }

  /** Refuses all with one reason, unless some are selected first. */
  async #refuse(): Promise<Answer | StillOpen> {
    const { screen, requests } = this.#question;
    const refused = this.#selected.size > 0 ? [...this.#selected] : this.#open();
    const which =
      requests.length === 1
        ? ''
        : `Refuse ${this.#selected.size > 0 ? numbers(refused) : `all ${refused.length}`}. `;
    const prompt = ownWords(
      `${which}Reason, for the model (Enter: none):`,
      screen.columns,
      ' because'.length,
    );
    const reason = await askLineFor(
      this.#question,
      prompt,
      'a reason in one line, or Enter alone',
      (line) => ({
        line,
      }),
    );
    if (typeof reason === 'string') return answerOf(reason);
    if (refused.length === requests.length) {
      return { kind: 'deny_all', ...(reason.line === '' ? {} : { reason: reason.line }) };
    }
    for (const index of refused) {
      this.#selected.delete(index);
      this.#reasons.set(index, reason.line);
    }
    return this.#open().length === 0 ? this.#run([]) : undefined;
  }

  async #always(): Promise<Answer | StillOpen> {
    const { propose } = this.#question;
    const index = await this.#which('Always allow calls like which one?');
    if (typeof index !== 'number') return answerOf(index);
    const rule = await propose?.(this.#request(index)).catch(() => undefined);
    if (rule === undefined)
      return this.#say(
        'No rule can say this safely: it would allow more than this call. Answer for this time.',
      );
    const answer = await offerRule(rule, this.#question);
    if (isNoAnswer(answer)) return answerOf(answer);
    if (answer === 'not written') return undefined;
    this.#selected.add(index);
    return this.#say(`Written. Call ${index + 1} is selected; Enter ${verbOf(this.#keys)}s the selected.`);
  }

  /** `back`: none of them. */
  async #which(text: string): Promise<number | 'back' | NoAnswer> {
    const { requests, screen } = this.#question;
    if (requests.length === 1) return 0;
    const prompt = ownWords(`${text} Its number (Enter: none):`, screen.columns, ' 1'.length);
    const expected = `a number from 1 to ${requests.length}, or Enter`;
    const read = (typed: string): number | 'back' | undefined => {
      if (typed === '' || isBack(typed)) return 'back';
      const index = /^[0-9]+$/.test(typed) ? Number(typed) - 1 : -1;
      return requests[index] === undefined ? undefined : index;
    };
    return requests.length > 9
      ? askLineFor(this.#question, prompt, expected, read)
      : this.#askKey(prompt, expected, read);
  }

  /** Shows lines one screen at a time: the approval prompt comes only after all were shown. */
  async #page(lines: readonly string[]): Promise<Answer | StillOpen> {
    const { screen, signal } = this.#question;
    let answer: Answer | StillOpen;
    const goesOn = async (prompt: string): Promise<boolean> => {
      const key = await screen.askKey(prompt, signal);
      this.#write('\n');
      if (key === undefined || key === 'n') answer = { kind: 'deny_all' };
      else if (key === ESCAPE) answer = 'cancel';
      else if (key === CTRL_C) answer = 'interrupt';
      return answer === undefined;
    };
    const keys = 'any key continues, n refuses all';
    await pageLines(lines, keys, this.#question, goesOn, this.#prompt(true));
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

  /** The calls that are not refused. */
  #open(): readonly number[] {
    return [...this.#pictures.keys()].filter((index) => !this.#reasons.has(index));
  }

  #request(index: number): ApprovalRequest {
    return this.#question.requests[index] as ApprovalRequest;
  }

  #askKey<T>(prompt: string, expected: string, read: (key: string) => T | undefined): Promise<T | NoAnswer> {
    return askKeyFor(this.#question, prompt, expected, read);
  }

  #say(words: string, end = '\n'): StillOpen {
    this.#said += `${ownWords(words, this.#question.screen.columns)}${end}`;
    return undefined;
  }

  #write(text: string): void {
    this.#question.screen.write(text);
  }
}

const NOT_ANSWERED: Answer = { kind: 'deny_all', reason: 'no answer was given' };

function isNoAnswer(answer: unknown): answer is NoAnswer {
  return answer === 'interrupt' || answer === 'ended';
}

function answerOf(left: NoAnswer | 'back'): Answer | StillOpen {
  if (left === 'back') return undefined;
  return left === 'interrupt' ? left : NOT_ANSWERED;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
