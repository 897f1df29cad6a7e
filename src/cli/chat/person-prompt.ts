import { type LineMemory, readEditedLine } from '../../platform/runtime/open-line-editor.js';
import type { Stdio } from '../../platform/runtime/stdio.js';
import { completeSlash } from './slash-commands.js';

const PROMPT = '› ';
const GOES_ON = '… ';
const HOW_TO_LEAVE = 'toolexec: press Ctrl-C again, or Ctrl-D, to leave\n';

/** The person's input line: an editor with history that a single Ctrl-C does not end. */
export class PersonPrompt {
  readonly #stdio: Stdio;
  readonly #onControl: (letter: string) => string | undefined;
  readonly #memory: LineMemory = { history: [], ahead: [], begun: '' };

  constructor(stdio: Stdio, onControl: (letter: string) => string | undefined) {
    this.#stdio = stdio;
    this.#onControl = onControl;
  }

  /**
   * Reads the person's message, over several lines if a line ends with `\`. Undefined if the person leaves,
   * or the terminal is gone.
   */
  async ask(signal?: AbortSignal): Promise<string | undefined> {
    const stop = new AbortController();
    const end = (): void => stop.abort();
    const unlisten = this.#stdio.onEndSignal(end);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted === true) end();
    try {
      return await this.#read(stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      this.#stdio.stderr.write('\n');
      return undefined;
    } finally {
      unlisten();
      signal?.removeEventListener('abort', end);
    }
  }

  async #read(signal: AbortSignal): Promise<string | undefined> {
    const { stderr } = this.#stdio;
    let before = '';
    let isLeaving = false;
    for (;;) {
      const typed = await readEditedLine(
        {
          prompt: before === '' ? PROMPT : GOES_ON,
          memory: this.#memory,
          complete: completeSlash,
          onControl: this.#onControl,
        },
        signal,
      );
      if (typed.kind === 'line' && typed.text.endsWith('\\')) {
        before += `${typed.text.slice(0, -1)}\n`;
        continue;
      }
      if (typed.kind === 'line') return `${before}${typed.text}`;
      stderr.write('\n');
      const isEmpty = typed.kind === 'end' || `${before}${typed.text}` === '';
      if (typed.kind === 'end' || (isEmpty && isLeaving)) return undefined;
      if (isEmpty) stderr.write(HOW_TO_LEAVE);
      isLeaving = isEmpty;
      before = '';
    }
  }
}
