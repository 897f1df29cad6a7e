import type { PlannedCall } from '../../contract/approval.js';
import type { ToolEvent } from '../../contract/executor.js';
import { isToolError } from '../../errors/tool-error.js';
import type { LoopEvent, LoopResult, LoopState, ToolLoop } from '../../loop/loop-contract.js';
import { createSanitizer, sanitize } from '../../output/sanitize.js';
import type { Stdio } from '../../platform/runtime/stdio.js';
import { ConversationLights } from '../../provenance/lights.js';
import { describeLights } from '../../terminal/describe-lights.js';
import { createMarkdown, type MarkdownStream } from '../../terminal/draw-markdown.js';
import { describeName } from '../display/describe-call.js';
import { type Display, noteResults } from '../display/display.js';
import type { Palette } from '../display/terminal-text.js';
import { toSafeJson } from '../display/terminal-text.js';
import { originsOf, readLights } from '../recorded-origins.js';
import { isPutOff } from '../run-batch.js';
import { watchInterrupts } from '../watch-interrupts.js';
import type { CallReport } from './call-report.js';
import { openQuietly } from './changed-files.js';
import { describeUse } from './describe-use.js';

export interface ViewParts {
  readonly stdio: Stdio;
  readonly display: Display;
  readonly isJson: boolean;
  /** Colours of the model's text, if standard output is a terminal. */
  readonly palette: Palette;
  /** Undefined: only the display's lines. */
  readonly report: CallReport | undefined;
  /** Reads a line from the person. Undefined at the end. */
  readonly ask: (signal: AbortSignal) => Promise<string | undefined>;
}

/** Shows a turn: the model's text on standard output, everything else on standard error. */
export class ChatView {
  readonly display: Display;
  readonly #parts: ViewParts;
  #isMidLine = false;
  /** A call of this conversation waits for approval. */
  #waits = false;
  #lights = new ConversationLights();
  /** By call id, of calls that have no result yet. */
  readonly #planned = new Map<string, PlannedCall>();

  constructor(parts: ViewParts) {
    this.display = parts.display;
    this.#parts = parts;
  }

  readonly clean = (text: string): string => sanitize(text);

  get waits(): boolean {
    return this.#waits;
  }

  /** @param isShown whether the model's text is written as it arrives */
  async turn(loop: ToolLoop, text: string, leave: () => Promise<void>, isShown = false): Promise<LoopResult> {
    const { stdio } = this.#parts;
    const stop = new AbortController();
    const interrupts = watchInterrupts(stdio, {
      first: () => {
        this.display.note('cancelling; press Ctrl-C again to leave immediately');
        stop.abort();
      },
      second: () => void leave(),
    });
    const words = this.#words();
    const say = (written: string): void => this.#say(written, isShown);
    try {
      for await (const event of loop.stream(text, { signal: stop.signal })) {
        if (event.type === 'end') return event.result;
        if (event.type === 'state') say(words.end());
        if (event.type === 'text') say(words.push(event.text));
        await this.#show(event, loop.conversation);
        if (event.type === 'state' && event.state.kind === 'waiting') {
          // Not awaited: the loop emits further events while it waits for the results.
          void this.#takeResults(loop, event.state, stop);
        }
      }
      throw new Error('a turn ends with an end');
    } finally {
      interrupts.stop();
      this.#endLine();
      this.display.end();
    }
  }

  /** A program that reads standard output gets the model's text unchanged. */
  #words(): MarkdownStream {
    const { stdio, palette } = this.#parts;
    if (stdio.stdout.isTerminal) return createMarkdown({ palette, columns: () => stdio.stdout.columns });
    return createSanitizer();
  }

  #say(text: string, isShown: boolean): void {
    if (!isShown || text === '') return;
    this.#parts.stdio.stdout.write(text);
    this.#isMidLine = !text.endsWith('\n');
  }

  #endLine(): void {
    if (this.#isMidLine) this.#parts.stdio.stdout.write('\n');
    this.#isMidLine = false;
  }

  async #show(event: LoopEvent, conversation: string): Promise<void> {
    const { isJson, stdio, report } = this.#parts;
    switch (event.type) {
      case 'state':
      case 'call':
      case 'call_error':
      case 'text':
      case 'reasoning':
        if (isJson) stdio.stderr.write(`${toSafeJson(event)}\n`);
        else if (event.type === 'call_error')
          this.display.note(`a call cannot be read: ${event.error.message}`);
        break;
      case 'end':
        break;
      default:
        this.#endLine();
        this.display.event(event);
        this.#follow(event);
        if (event.type === 'planned') report?.planned(event);
        if (event.type === 'completed' && report !== undefined)
          stdio.stderr.write(await report.completed(conversation, event.callId, event.result));
    }
  }

  /** Continues a conversation: what its earlier calls have lit stays lit. Of a new one, nothing is lit. */
  async enter(journal: string, conversation: string): Promise<void> {
    const archive = await openQuietly(journal, conversation);
    try {
      this.#lights = archive === undefined ? new ConversationLights() : readLights(archive, conversation);
    } finally {
      archive?.close();
    }
    this.#showLights();
  }

  /** Shows the three lights when another one has come on. */
  #follow(event: ToolEvent): void {
    if (event.type === 'planned') this.#planned.set(event.callId, event.plan);
    if (event.type !== 'completed') return;
    const plan = this.#planned.get(event.callId);
    this.#planned.delete(event.callId);
    const origin = originsOf(event.result);
    if (origin.length === 0 || plan === undefined) return;
    if (!this.#lights.ran(origin, plan.effects, plan.containment.network)) return;
    this.#showLights();
  }

  #showLights(): void {
    const shown = describeLights(this.#lights.lights);
    if (shown !== '') this.display.note(shown);
  }

  /** Tells the person how a turn ended, if that matters. */
  conclude(result: LoopResult): void {
    const { stopReason, error, cutOff, results } = result;
    if (stopReason === 'cancelled') this.display.note('cancelled');
    if (stopReason === 'refused') this.display.note('the model declined to answer');
    if (stopReason === 'max_iterations') this.display.note('the limit of tool calls of one turn was reached');
    if (stopReason === 'max_tokens') this.display.note('the budget of tokens of one turn was used up');
    if (cutOff === true) this.display.note('the answer was cut at the limit of tokens');
    if (error !== undefined) this.display.note(`the model could not be asked: ${error.message}`);
    noteResults(results, this.display, '--yes, --approve ID or --deny');
    this.#waits ||= results.some(isPutOff);
    const { report, palette, stdio } = this.#parts;
    if (report !== undefined && error === undefined)
      stdio.stderr.write(`${palette.dim(describeUse(result))}\n`);
  }

  /** Mode parse_only: shows the pending calls and reads their results (D093). */
  async #takeResults(
    loop: ToolLoop,
    { calls }: LoopState & { readonly kind: 'waiting' },
    stop: AbortController,
  ): Promise<void> {
    for (const { id, name, args } of calls) {
      this.display.note(`pending: ${describeName({ toolName: name, callId: id })} ${toSafeJson(args)}`);
    }
    this.display.note('give each call its result: /tool ID RESULT, or /fail ID WHY');
    while (isWaiting(loop.state) && !stop.signal.aborted) {
      const line = await this.#parts.ask(stop.signal);
      if (line === undefined) {
        stop.abort();
        return;
      }
      const [, verb, id = '', output = ''] = /^\/(tool|fail)\s+(\S+)\s*(.*)$/s.exec(line.trim()) ?? [];
      if (verb === undefined) this.display.note('expected: /tool ID RESULT');
      else this.#submit(loop, id, { output, success: verb === 'tool' });
    }
  }

  #submit(loop: ToolLoop, id: string, given: { readonly output: string; readonly success: boolean }): void {
    try {
      loop.submit(id, given);
    } catch (error) {
      if (!isToolError(error, 'bad_args')) throw error;
      this.display.note(error.message);
    }
  }
}

function isWaiting(state: LoopState): boolean {
  return state.kind === 'waiting' && state.calls.length > 0;
}
