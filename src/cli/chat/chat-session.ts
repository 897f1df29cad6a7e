import { randomUUID } from 'node:crypto';
import type { ToolCall, ToolResult } from '../../contract/call.js';
import type { Executor } from '../../contract/executor.js';
import { isToolError } from '../../errors/tool-error.js';
import type { ToolLoop } from '../../loop/loop-contract.js';
import { sanitize } from '../../output/sanitize.js';
import { drawTable } from '../../terminal/draw-table.js';
import type { ModelChoice } from '../choose-model.js';
import { type CliContext, type ExitCode, UsageError } from '../cli-context.js';
import { asTyped } from '../display/as-typed.js';
import { cut } from '../display/describe-call.js';
import { foldLine } from '../display/fit-line.js';
import { createPalette } from '../display/terminal-text.js';
import { exitCodeOf } from '../exit-code.js';
import { watchInterrupts } from '../watch-interrupts.js';
import { type CallReport, shownPath } from './call-report.js';
import { changingCalls } from './changed-files.js';
import type { ChatView } from './chat-view.js';
import type { HeldConversations } from './held-conversations.js';
import type { PersonPrompt } from './person-prompt.js';
import { HELP, readPersonLine, type SlashName } from './slash-commands.js';

export interface SessionParts {
  readonly executor: Executor;
  readonly context: CliContext;
  readonly view: ChatView;
  readonly report: CallReport;
  readonly prompt: PersonPrompt;
  readonly held: HeldConversations;
  /** The journal's file. */
  readonly journal: string;
  /** The constant part: root, sandbox, journal. */
  readonly place: string;
  readonly createLoop: (choice: ModelChoice, conversation: string) => ToolLoop;
  /** True if a batch of this conversation waits for the person; then no new call runs in it. */
  readonly recover: (conversation: string) => Promise<boolean>;
  /** Ends the process immediately. */
  readonly leave: () => Promise<void>;
}

/** How much output of the person's own command the model sees. */
const MOST_CHARACTERS = 20_000;

/** A conversation at a terminal: the person's messages and commands. */
export class ChatSession {
  readonly #parts: SessionParts;
  #choice: ModelChoice;
  #loop: ToolLoop;
  /** Output of the person's own commands, for the model's next message. */
  #seen: string[] = [];
  #isOver = false;

  constructor(parts: SessionParts, choice: ModelChoice, conversation: string) {
    this.#parts = parts;
    this.#choice = choice;
    this.#loop = parts.createLoop(choice, conversation);
  }

  /** Runs turn after turn until the person ends it. */
  async converse(first: string | undefined): Promise<ExitCode> {
    const { view, prompt, held } = this.#parts;
    this.#welcome();
    await this.#begin();
    let line = first;
    while (!this.#isOver) {
      line ??= await prompt.ask();
      if (line === undefined) break;
      await this.#take(line);
      line = undefined;
    }
    if ((await held.wordsOf(this.#loop.conversation)) !== undefined)
      view.display.note(`continue this conversation: toolexec chat --resume ${this.#loop.conversation}`);
    return exitCodeOf([], false, view.waits);
  }

  #welcome(): void {
    const { context, place } = this.#parts;
    const { stderr } = context.stdio;
    const line = `${this.#choice.model ?? ''} · ${place} · /help, Ctrl-C cancels, Ctrl-D leaves`;
    for (const piece of foldLine(sanitize(line, 'inline'), Math.max(stderr.columns, 40) - 1))
      stderr.write(`${createPalette(true, context.env).dim(piece)}\n`);
  }

  async #begin(): Promise<void> {
    const { view, held, journal } = this.#parts;
    await this.#loop.resume();
    const { length } = this.#loop.messages;
    if (length > 0) view.display.note(`continuing ${this.#loop.conversation}: ${length} messages`);
    await view.enter(journal, this.#loop.conversation);
    await held.begin(this.#loop.conversation);
  }

  async #take(line: string): Promise<void> {
    const { view, leave } = this.#parts;
    const read = readPersonLine(line);
    switch (read.kind) {
      case 'empty':
        return;
      case 'unknown':
        view.display.note(read.message);
        return;
      case 'said':
        view.conclude(
          await view.turn(this.#loop, [...this.#seen.splice(0), read.text].join('\n\n'), leave, true),
        );
        return;
      case 'shell':
        await this.#runShell(read.command);
        return;
      case 'slash':
        await this.#obey(read.name, read.rest);
    }
  }

  async #obey(name: SlashName, rest: string): Promise<void> {
    const { view } = this.#parts;
    try {
      await this.#orders[name](rest);
    } catch (error) {
      const isMendable = error instanceof UsageError || isToolError(error);
      if (!isMendable) throw error;
      view.display.note(asTyped(error.message));
    }
  }

  readonly #orders: Readonly<Record<SlashName, (rest: string) => Promise<void> | void>> = {
    help: () => this.#write(HELP),
    undo: (rest) => this.#undo(rest),
    diff: (rest) => this.#diff(rest),
    model: (rest) => this.#changeModel(rest),
    clear: async () => {
      await this.#goTo(`chat:${randomUUID()}`);
      this.#parts.view.display.note('a new conversation; the model knows nothing of the previous one');
    },
    resume: (rest) => this.#resume(rest),
    quit: () => {
      this.#isOver = true;
    },
  };

  async #undo(named: string): Promise<void> {
    const { executor, journal, view } = this.#parts;
    const { conversation } = this.#loop;
    const calls = named === '' ? await changingCalls(journal, conversation) : [];
    const callId = named === '' ? calls.find(({ isUndone }) => !isUndone)?.callId : named;
    if (callId === undefined) {
      view.display.note('no call of this conversation has changes that can still be undone');
      return;
    }
    const { restored, skipped, undoId } = await executor.undo(callId, { conversation });
    for (const path of restored) this.#write(`  put back ${shownPath(path)}\n`);
    for (const { path, reason } of skipped) this.#write(`  left ${shownPath(path)}: ${reason}\n`);
    if (undoId !== undefined) this.#write(`  take this back: /undo ${undoId}\n`);
    if (restored.length > 0) {
      const paths = restored.map(shownPath).join(', ');
      this.#seen.push(`(The person has taken back what the call ${callId} changed: ${paths}.)`);
    }
  }

  async #diff(named: string): Promise<void> {
    const { context, journal, view } = this.#parts;
    const found = await changingCalls(journal, this.#loop.conversation, named === '' ? undefined : named);
    const calls = found.filter(({ isUndone }) => !isUndone).toReversed();
    if (calls.length === 0) {
      view.display.note('the calls of this conversation have changed no files');
      return;
    }
    const { drawParts } = await import('../../terminal/draw-picture.js');
    const palette = createPalette(true, context.env);
    const picture = { title: '', risk: 'low', reason: '', effects: [], dangerous: false } as const;
    for (const { callId, toolName, parts } of calls) {
      this.#write(`${palette.bold(sanitize(`${toolName} (${callId})`, 'inline'))}\n`);
      const shown = parts.map((part) => ({ ...part, path: shownPath(part.path) }));
      const { columns } = context.stdio.stderr;
      const settings = { palette, columns, rest: `/diff ${callId}`, whole: named !== '' };
      for (const drawn of drawParts({ ...picture, parts: shown }, settings)) this.#write(`${drawn}\n`);
    }
  }

  #changeModel(named: string): void {
    const { view, createLoop } = this.#parts;
    if (named === '') {
      view.display.note(`the model is ${this.#choice.model}; another one: /model PROVIDER/NAME`);
      return;
    }
    const providerOf = (model = ''): string => model.slice(0, model.indexOf('/'));
    const { model: before, baseUrl } = this.#choice;
    // The address belongs to the previous provider's interface.
    const isSame = baseUrl !== undefined && providerOf(before) === providerOf(named);
    const choice = { model: named, ...(isSame ? { baseUrl } : {}) };
    this.#loop = createLoop(choice, this.#loop.conversation);
    this.#choice = choice;
    view.display.note(`${named} answers from now on`);
  }

  async #resume(named: string): Promise<void> {
    const { held, view, recover } = this.#parts;
    const last = await held.last();
    if (named === '') {
      const rows = last.map(({ id, words }, at) => [`  ${at + 1}`, id, cut(sanitize(words, 'inline'), 60)]);
      this.#write(
        rows.length === 0 ? '' : drawTable({ rows, columns: this.#parts.context.stdio.stderr.columns }),
      );
      view.display.note(
        rows.length === 0 ? 'there is no earlier conversation here' : 'continue one: /resume NUMBER or ID',
      );
      return;
    }
    const id = /^\d{1,3}$/.test(named) ? (last[Number(named) - 1]?.id ?? named) : named;
    if ((await held.wordsOf(id)) === undefined) {
      view.display.note(`the journal has no conversation "${id}"; see /resume`);
      return;
    }
    if (!(await recover(id))) await this.#goTo(id);
  }

  async #goTo(conversation: string): Promise<void> {
    this.#seen = [];
    this.#loop = this.#parts.createLoop(this.#choice, conversation);
    await this.#begin();
  }

  /**
   * Runs the person's own command. Typing it is the approval; sandbox, denylist and command analysis still
   * apply.
   */
  async #runShell(command: string): Promise<void> {
    const { executor, view, context, leave, report } = this.#parts;
    const call: ToolCall = { id: `typed_${randomUUID().slice(0, 8)}`, name: 'bash', args: { command } };
    const { conversation } = this.#loop;
    const run = executor.start([call], {
      conversation,
      approver: () => ({ kind: 'approve_all', by: 'the person, by typing it' }),
    });
    const interrupts = watchInterrupts(context.stdio, {
      first: () => run.cancel(),
      second: () => void leave(),
    });
    try {
      for await (const event of run.events) {
        view.display.event(event);
        if (event.type === 'planned') report.planned(event);
        if (event.type === 'completed')
          this.#write(await report.completed(conversation, event.callId, event.result));
      }
      for (const result of await run.results) this.#seen.push(describeTyped(command, result));
    } finally {
      interrupts.stop();
      view.display.end();
    }
  }

  #write(text: string): void {
    this.#parts.context.stdio.stderr.write(text);
  }
}

/** For the model, before the person's next message. */
function describeTyped(command: string, { output, error }: ToolResult): string {
  const printed = output.length > MOST_CHARACTERS ? `${output.slice(0, MOST_CHARACTERS)}\n…` : output;
  const failed = error === undefined ? '' : `\n(${error.message})`;
  return `(The person ran a command themselves: ${command})\n${printed}${failed}`;
}
