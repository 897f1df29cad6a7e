import type { Clock } from '../../contract/context.js';
import type { CommandOutcome, KeptOutput, ShellReading, ShellText } from '../../contract/processes.js';
import { createOutputPipe } from '../../output/create-redactor.js';
import { redact } from '../../output/redact.js';
import type { Sanitizer } from '../../output/sanitize.js';
import { sanitize } from '../../output/sanitize.js';
import type { LinearPattern } from '../../schema/linear-pattern.js';

/**
 * Cleans the output of background shells across readings: if a control sequence or a secret is split between
 * two readings, neither reading shows it (D077). A possible beginning of one is held back until the next
 * reading.
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

  /**
   * Drops the state of the oldest shell whose output was not read to its end. The limit is higher than the
   * number of shells that can run at a time.
   */
  #forgetOldest(): void {
    const [oldest] = this.#streams.keys();
    if (oldest !== undefined && this.#streams.size > MOST) this.#streams.delete(oldest);
  }
}

const MOST = 200;

class CleanStream {
  readonly #pipe: Sanitizer;
  /** Cleaned text that has not been shown yet. */
  #rest = '';

  constructor(values: readonly string[]) {
    this.#pipe = createOutputPipe(values);
  }

  next(part: ShellText, options: { readonly ended: boolean; readonly wholeLines: boolean }): ShellText {
    // Text after a gap does not continue the text before it.
    if (part.droppedBytes > 0) this.#rest += this.#pipe.end();
    // Binary output is reported, but not shown.
    if (part.binary) return part;
    const text = this.#rest + this.#pipe.push(part.text) + (options.ended ? this.#pipe.end() : '');
    const end = options.wholeLines && !options.ended ? text.lastIndexOf('\n') + 1 : text.length;
    this.#rest = text.slice(end);
    return { ...part, text: text.slice(0, end) };
  }
}

/** The number of characters of a line that are matched. A person does not write longer lines. */
const LOOKED_AT = 16_384;
/** The longest time that other calls wait before filtering pauses. */
const SLICE_MS = 20;

/**
 * Returns the lines that `pattern` matches, with their line ends. Pauses regularly for other work, and stops
 * when the call is aborted.
 */
export async function filterLines(
  text: string,
  pattern: LinearPattern,
  clock: Clock,
  signal: AbortSignal,
): Promise<string> {
  const matching: string[] = [];
  let pauseAt = clock.monotonic() + SLICE_MS;
  for (let start = 0; start < text.length && !signal.aborted; ) {
    const end = text.indexOf('\n', start) + 1 || text.length;
    const line = text.slice(start, end);
    if (pattern.test(withoutEnd(line).slice(0, LOOKED_AT))) matching.push(line);
    start = end;
    if (clock.monotonic() < pauseAt) continue;
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    pauseAt = clock.monotonic() + SLICE_MS;
  }
  return matching.join('');
}

function withoutEnd(line: string): string {
  return line.replace(/\r?\n$/, '');
}

/**
 * The number of characters that are cleaned at each end: several times the amount that a tool shows, so that
 * the shown text is never cut.
 */
const HEAD = 128 * 1024;
const TAIL = 16 * 1024;

/**
 * Neutralises and redacts a command's output at both ends, as far as it can be shown. If a caller cuts the
 * output afterwards, no half of an escape sequence or a secret remains (D077). The middle of long output is
 * not cleaned.
 */
export function cleanOutcome(outcome: CommandOutcome, values: readonly string[]): CommandOutcome {
  const clean = (kept: KeptOutput): KeptOutput => (kept.binary ? kept : cleanKept(kept, values));
  return { ...outcome, stdout: clean(outcome.stdout), stderr: clean(outcome.stderr) };
}

function cleanKept(kept: KeptOutput, values: readonly string[]): KeptOutput {
  const clean = (text: string): string => (text === '' ? '' : redact(sanitize(text), { values }));
  const { head, tail } = kept;
  if (kept.omittedBytes > 0) {
    const [first, last] = [seam(head, HEAD), seam(tail, tail.length - TAIL)];
    return {
      ...kept,
      head: clean(head.slice(0, first)) + head.slice(first),
      tail: tail.slice(0, last) + clean(tail.slice(last)),
    };
  }
  if (head.length <= HEAD + TAIL) return { ...kept, head: clean(head) };
  const [first, last] = [seam(head, HEAD), seam(head, head.length - TAIL)];
  const cleaned = clean(head.slice(0, first)) + head.slice(first, last) + clean(head.slice(last));
  return { ...kept, head: cleaned };
}

/** A position near `at` where the text can be cut without splitting a character. */
function seam(text: string, at: number): number {
  if (at <= 0) return 0;
  if (at >= text.length) return text.length;
  return (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;
}
