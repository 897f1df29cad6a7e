import type { ShellReading, ShellText } from '../../contract/processes.js';
import { createOutputPipe } from '../../output/create-redactor.js';
import type { Sanitizer } from '../../output/sanitize.js';

/**
 * What is read of background shells, cleaned over the borders of readings: a sequence or a secret that comes in two
 * pieces is not shown by two readings (D077). What may be a beginning waits for the next one.
 */
export class ShellOutput {
  readonly #values: readonly string[];
  readonly #streams = new Map<string, { readonly stdout: CleanStream; readonly stderr: CleanStream }>();

  constructor(values: readonly string[]) {
    this.#values = values;
  }

  clean(reading: ShellReading, options: { readonly wholeLines: boolean }): ShellReading {
    const { shell, stdout, stderr } = reading;
    const streams = this.#streams.get(shell.id) ?? {
      stdout: new CleanStream(this.#values),
      stderr: new CleanStream(this.#values),
    };
    this.#streams.delete(shell.id);
    if (shell.isRunning) this.#streams.set(shell.id, streams);
    this.#forgetOldest();
    const ended = !shell.isRunning;
    return {
      shell,
      stdout: streams.stdout.next(stdout, { ...options, ended }),
      stderr: streams.stderr.next(stderr, { ...options, ended }),
    };
  }

  /** Of shells that nobody has read to their end; more than can run at a time. */
  #forgetOldest(): void {
    const [oldest] = this.#streams.keys();
    if (oldest !== undefined && this.#streams.size > MOST) this.#streams.delete(oldest);
  }
}

const MOST = 200;

class CleanStream {
  readonly #pipe: Sanitizer;
  /** Clean, and not shown yet. */
  #rest = '';

  constructor(values: readonly string[]) {
    this.#pipe = createOutputPipe(values);
  }

  next(part: ShellText, options: { readonly ended: boolean; readonly wholeLines: boolean }): ShellText {
    // What comes behind a gap does not go on with what was before it.
    if (part.droppedBytes > 0) this.#rest += this.#pipe.end();
    // Is told, not shown.
    if (part.binary) return part;
    const text = this.#rest + this.#pipe.push(part.text) + (options.ended ? this.#pipe.end() : '');
    const end = options.wholeLines && !options.ended ? text.lastIndexOf('\n') + 1 : text.length;
    this.#rest = text.slice(end);
    return { ...part, text: text.slice(0, end) };
  }
}
