import { openSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline';
import { ReadStream } from 'node:tty';

export type TypedLine =
  | { readonly kind: 'line'; readonly text: string }
  /** Ctrl-C; `text` is the content of the line. */
  | { readonly kind: 'interrupt'; readonly text: string }
  /** Ctrl-D in an empty line, or the terminal is gone. */
  | { readonly kind: 'end' };

export interface LineSettings {
  readonly prompt: string;
  /** The typed lines; outlives a single line. */
  readonly memory: LineMemory;
  /** The possible completions of a line that begins like this, for the tab key. */
  readonly complete: (line: string) => readonly string[];
  /** The text to print above the line for Ctrl with this letter; undefined if the key has no meaning. */
  readonly onControl: (letter: string) => string | undefined;
}

export interface LineMemory {
  /** Newest first. */
  readonly history: string[];
  /** Lines that arrived together with an earlier one; the next reads return them. */
  readonly ahead: string[];
  /** The beginning of a line that arrived that way. */
  begun: string;
}

interface Key {
  readonly name?: string;
  readonly ctrl?: boolean;
}

const MOST_HISTORY = 500;
/**
 * Ctrl-D that was typed before a line was read: the kernel keeps it as a NUL byte, which Node takes for
 * Ctrl-`.
 */
const TYPED_AHEAD_END = '`';
/** Bracketed paste: the terminal marks where pasted text begins and ends, so that its lines stay one text. */
const PASTE_MODE = { on: '\u001b[?2004h', off: '\u001b[?2004l' };

/**
 * Reads a line from the person at the terminal, whatever standard input is, with the keys of a line editor.
 * The terminal is open only while the line is read. Rejects if `signal` aborts; returns `end` if this process
 * has no terminal.
 */
export function readEditedLine(settings: LineSettings, signal: AbortSignal): Promise<TypedLine> {
  const { prompt, memory } = settings;
  const ahead = memory.ahead.shift();
  if (ahead !== undefined) {
    process.stderr.write(`${prompt}${ahead}\n`);
    return Promise.resolve({ kind: 'line', text: ahead });
  }
  const input = openTerminal();
  if (input === undefined) return Promise.resolve({ kind: 'end' });
  return new Promise((resolve, reject) => {
    new LineReading(settings, input, signal, { resolve, reject }).begin();
  });
}

interface Ending {
  readonly resolve: (typed: TypedLine) => void;
  readonly reject: (reason: unknown) => void;
}

/** Reads one line. */
class LineReading {
  readonly #settings: LineSettings;
  readonly #input: ReadStream;
  readonly #signal: AbortSignal;
  readonly #ending: Ending;
  readonly #editor: Interface;
  #pasted: string[] = [];
  #isPasting = false;
  #line: string | undefined;
  #isOver = false;

  constructor(settings: LineSettings, input: ReadStream, signal: AbortSignal, ending: Ending) {
    this.#settings = settings;
    this.#input = input;
    this.#signal = signal;
    this.#ending = ending;
    this.#editor = createInterface({
      input,
      output: process.stderr,
      terminal: true,
      prompt: settings.prompt,
      history: [...settings.memory.history],
      historySize: MOST_HISTORY,
      removeHistoryDuplicates: true,
      completer: (line: string) => [[...settings.complete(line)], line],
    });
    insertAtCursor(this.#editor);
  }

  begin(): void {
    const { memory } = this.#settings;
    const editor = this.#editor;
    editor.on('line', (line) => this.#take(line));
    editor.on('SIGINT', () => {
      this.#answer({ kind: 'interrupt', text: [...this.#pasted, editor.line].join('\n') });
    });
    editor.on('close', this.#closed);
    this.#input.on('keypress', (_: unknown, key: Key) => this.#press(key));
    this.#input.on('error', this.#closed);
    this.#signal.addEventListener('abort', this.#abort, { once: true });
    if (this.#signal.aborted) {
      this.#abort();
      return;
    }
    process.stderr.write(PASTE_MODE.on);
    editor.prompt();
    if (memory.begun !== '') editor.write(memory.begun);
    memory.begun = '';
  }

  #take(typed: string): void {
    // Node 24 puts it between the lines of a text from the history.
    const line = typed.replaceAll('\r', '\n');
    if (this.#line !== undefined) this.#settings.memory.ahead.push(line);
    else if (this.#isPasting) this.#pasted.push(line);
    else {
      this.#line = [...this.#pasted, line].join('\n');
      // Earlier input arrives together with the answer, and at this moment.
      queueMicrotask(() => this.#finish());
    }
  }

  #finish(): void {
    const { memory } = this.#settings;
    const text = this.#line ?? this.#pasted.join('\n');
    memory.begun = this.#line === undefined ? '' : this.#editor.line;
    if (text.trim() !== '')
      memory.history.splice(0, memory.history.length, ...remembered(text, memory.history));
    this.#answer({ kind: 'line', text });
  }

  #press({ name, ctrl }: Key): void {
    if (name === 'paste-start' || name === 'paste-end') this.#isPasting = name === 'paste-start';
    if (ctrl === true && name === TYPED_AHEAD_END && this.#editor.line === '' && this.#pasted.length === 0)
      this.#answer({ kind: 'end' });
    const above = ctrl === true && name !== undefined ? this.#settings.onControl(name) : undefined;
    if (above === undefined || this.#isOver) return;
    process.stderr.write(`\r\u001b[J${above}`);
    this.#editor.prompt(true);
  }

  readonly #closed = (): void => {
    if (this.#line !== undefined || this.#pasted.length > 0) this.#finish();
    else this.#answer({ kind: 'end' });
  };

  readonly #abort = (): void => {
    if (this.#close()) this.#ending.reject(this.#signal.reason);
  };

  #answer(typed: TypedLine): void {
    if (this.#close()) this.#ending.resolve(typed);
  }

  #close(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#signal.removeEventListener('abort', this.#abort);
    process.stderr.write(PASTE_MODE.off);
    this.#editor.close();
    this.#input.destroy();
    return true;
  }
}

/**
 * Inserts keys that arrive in one piece, such as pasted ones, at the cursor. Node 20 appends them at the end
 * of the line unless completion is on.
 */
function insertAtCursor(editor: Interface): void {
  let mayComplete = true;
  Object.defineProperty(editor, 'isCompletionEnabled', {
    get: () => mayComplete || editor.cursor < editor.line.length,
    set(value: boolean) {
      mayComplete = value;
    },
  });
}

/** Newest first; a text of several lines is one entry. */
function remembered(text: string, history: readonly string[]): readonly string[] {
  return [text, ...history.filter((other) => other !== text)].slice(0, MOST_HISTORY);
}

function openTerminal(): ReadStream | undefined {
  try {
    return new ReadStream(openSync(process.platform === 'win32' ? 'CONIN$' : '/dev/tty', 'r'));
  } catch {
    return undefined;
  }
}
