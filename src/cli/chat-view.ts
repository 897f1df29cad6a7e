import type { LoopEvent, LoopResult, LoopState, ToolLoop } from '../contract/loop.js';
import { isToolError } from '../errors/tool-error.js';
import { createSanitizer, sanitize } from '../output/sanitize.js';
import { openKeyboard } from '../platform/runtime/open-keyboard.js';
import type { Stdio } from '../platform/runtime/stdio.js';
import type { ExitCode } from './cli-context.js';
import { describeName } from './display/describe-call.js';
import { type Display, noteResults } from './display/display.js';
import { toSafeJson } from './display/terminal-text.js';
import { exitCodeOf } from './exit-code.js';
import { isPutOff, watchInterrupts } from './run-batch.js';

const PROMPT = '› ';

/** A conversation as the person sees it: the model's words on standard output, everything else on standard error. */
export class ChatView {
  readonly stdio: Stdio;
  readonly display: Display;
  readonly #isJson: boolean;
  #isMidLine = false;
  /** A call of this conversation waits for approval. */
  #waits = false;

  constructor(stdio: Stdio, display: Display, isJson: boolean) {
    this.stdio = stdio;
    this.display = display;
    this.#isJson = isJson;
  }

  readonly clean = (text: string): string => sanitize(text);

  /** Turn after turn, until the person ends it. */
  async converse(loop: ToolLoop, first: string | undefined, leave: () => Promise<void>): Promise<ExitCode> {
    await loop.resume();
    const { length } = loop.messages;
    if (length > 0) this.display.note(`going on with ${loop.conversation}: ${length} messages`);
    let line = first;
    for (;;) {
      line ??= await this.#ask();
      if (line === undefined || /^\/(?:exit|quit)$/.test(line.trim())) break;
      if (line.trim() !== '') this.conclude(await this.turn(loop, line, leave, true));
      line = undefined;
    }
    this.display.note(`go on with this conversation: toolexec chat --resume ${loop.conversation}`);
    return exitCodeOf([], false, this.#waits);
  }

  /** @param isShown whether the model's words are written as they come */
  async turn(loop: ToolLoop, text: string, leave: () => Promise<void>, isShown = false): Promise<LoopResult> {
    const stop = new AbortController();
    const interrupts = watchInterrupts(this.stdio, {
      first: () => {
        this.display.note('cancelling; press Ctrl-C again to leave at once');
        stop.abort();
      },
      second: () => void leave(),
    });
    const sanitizer = createSanitizer();
    try {
      for await (const event of loop.stream(text, { signal: stop.signal })) {
        if (event.type === 'end') return event.result;
        if (event.type === 'state') this.#say(sanitizer.end(), isShown);
        if (event.type === 'text') this.#say(sanitizer.push(event.text), isShown);
        this.#show(event);
        if (event.type === 'state' && event.state.kind === 'waiting') {
          // The loop waits until all are submitted, and goes on meanwhile.
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

  #say(text: string, isShown: boolean): void {
    if (!isShown || text === '') return;
    this.stdio.stdout.write(text);
    this.#isMidLine = !text.endsWith('\n');
  }

  #endLine(): void {
    if (this.#isMidLine) this.stdio.stdout.write('\n');
    this.#isMidLine = false;
  }

  #show(event: LoopEvent): void {
    switch (event.type) {
      case 'state':
      case 'call':
      case 'call_error':
      case 'text':
      case 'reasoning':
        if (this.#isJson) this.stdio.stderr.write(`${toSafeJson(event)}\n`);
        else if (event.type === 'call_error')
          this.display.note(`a call cannot be read: ${event.error.message}`);
        break;
      case 'end':
        break;
      default:
        this.#endLine();
        this.display.event(event);
    }
  }

  /** What the person should know about how a turn ended. */
  conclude({ stopReason, error, cutOff, results }: LoopResult): void {
    if (stopReason === 'cancelled') this.display.note('cancelled');
    if (stopReason === 'refused') this.display.note('the model declined to answer');
    if (stopReason === 'max_iterations') this.display.note('the limit of tool calls of one turn was reached');
    if (stopReason === 'max_tokens') this.display.note('the budget of tokens of one turn was used up');
    if (cutOff === true) this.display.note('the answer was cut at the limit of tokens');
    if (error !== undefined) this.display.note(`the model could not be asked: ${error.message}`);
    noteResults(results, this.display);
    this.#waits ||= results.some(isPutOff);
  }

  /** Mode parse_only: what is pending, and its results as they are typed (D093). */
  async #takeResults(
    loop: ToolLoop,
    { calls }: LoopState & { readonly kind: 'waiting' },
    stop: AbortController,
  ): Promise<void> {
    for (const { id, name, args } of calls) {
      this.display.note(`pending: ${describeName({ toolName: name, callId: id })} ${toSafeJson(args)}`);
    }
    this.display.note('give each its result: /tool ID RESULT, or /fail ID WHY');
    while (isWaiting(loop.state) && !stop.signal.aborted) {
      const line = await this.#ask(stop.signal);
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

  /** A line of the person. Undefined: there is none any more. */
  async #ask(signal?: AbortSignal): Promise<string | undefined> {
    const keyboard = openKeyboard();
    if (keyboard === undefined) return undefined;
    const stop = new AbortController();
    const end = (): void => stop.abort();
    const unlisten = signal === undefined ? this.stdio.onEndSignal(end) : () => {};
    signal?.addEventListener('abort', end, { once: true });
    try {
      this.stdio.stderr.write(PROMPT);
      return await keyboard.readLine(stop.signal);
    } catch {
      this.stdio.stderr.write('\n');
      return undefined;
    } finally {
      unlisten();
      signal?.removeEventListener('abort', end);
      keyboard.close();
    }
  }
}

function isWaiting(state: LoopState): boolean {
  return state.kind === 'waiting' && state.calls.length > 0;
}
