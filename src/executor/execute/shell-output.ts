import type { Clock } from '../../contract/context.js';
import type { CommandOutcome, KeptOutput, ShellReading, ShellText } from '../../contract/processes.js';
import { createOutputPipe } from '../../output/create-redactor.js';
import { redact } from '../../output/redact.js';
import type { Sanitizer } from '../../output/sanitize.js';
import { sanitize } from '../../output/sanitize.js';
import type { LinearPattern } from '../../schema/linear-pattern.js';

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

  /** Of shells whose output was not read to its end; more than can run at a time. */
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

/** Characters of a line that are looked at: what is longer is no line that a person wrote. */
const LOOKED_AT = 16_384;
/** How long other calls may be kept waiting at a time. */
const SLICE_MS = 20;

/** The lines that `pattern` matches, with their ends. Lets other work in between, and stops when the caller is gone. */
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

/** Characters of either end that are cleaned: several times what a tool shows of it, so that nothing shown is cut. */
const HEAD = 128 * 1024;
const TAIL = 16 * 1024;

/**
 * What a command printed, neutralised and redacted as far from both ends as it can be shown. A caller that cuts it afterwards
 * leaves neither half an escape sequence nor half a secret (D077). The middle of long output stays as it came.
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

/** A place near `at` where a text can be cut: never inside of a character. */
function seam(text: string, at: number): number {
  if (at <= 0) return 0;
  if (at >= text.length) return text.length;
  return (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;
}
