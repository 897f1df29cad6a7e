import type { Clock } from '../../contract/context.js';
import type { ToolEvent } from '../../contract/executor.js';
import { sanitize } from '../../output/sanitize.js';
import type { TextOutput } from '../../platform/runtime/stdio.js';
import { describeDuration, describeName, describeResult } from './describe-call.js';
import type { Display } from './display.js';
import type { Palette } from './terminal-text.js';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;
const OUTPUT_LINES = 5;
/** A line of output may be endless; of the one being written only so much is kept. */
const KEPT_CHARACTERS = 2000;

interface RunningCall {
  readonly name: string;
  readonly startedAt: number;
  /** The last lines it printed; the last one may still grow. */
  tail: string[];
}

/**
 * For a person: finished calls scroll up, the running ones are drawn below them again and again, with the last lines
 * of what they print. Lines are never wrapped, so what was drawn can be taken back whatever its characters measure.
 */
export function createLiveDisplay(out: TextOutput, palette: Palette, clock: Clock): Display {
  return new LiveDisplay(out, palette, clock);
}

class LiveDisplay implements Display {
  readonly #out: TextOutput;
  readonly #palette: Palette;
  readonly #clock: Clock;
  readonly #summaries = new Map<string, string>();
  readonly #running = new Map<string, RunningCall>();
  #drawnLines = 0;
  #frame = 0;
  /** Questions that are on the screen. */
  #holds = 0;
  #stopTicking: (() => void) | undefined;

  constructor(out: TextOutput, palette: Palette, clock: Clock) {
    this.#out = out;
    this.#palette = palette;
    this.#clock = clock;
  }

  event(event: ToolEvent): void {
    switch (event.type) {
      case 'planned':
        this.#summaries.set(event.callId, sanitize(event.plan.summary, 'inline'));
        break;
      case 'started':
        this.#start(event);
        break;
      case 'stdout':
      case 'stderr':
        this.#keep(event.callId, event.chunk);
        break;
      case 'completed':
        this.#running.delete(event.callId);
        this.#print(describeResult(event.result, this.#palette));
        break;
      default:
    }
  }

  note(message: string): void {
    this.#print(`toolexec: ${sanitize(message, 'inline')}`);
  }

  hold(): () => void {
    this.#drawNothing();
    this.#holds++;
    return () => {
      this.#holds--;
      this.#draw('');
    };
  }

  end(): void {
    this.#running.clear();
    this.#stopTicking?.();
    this.#stopTicking = undefined;
    this.#draw('');
  }

  #start(event: ToolEvent): void {
    const name = `${describeName(event)} ${this.#summaries.get(event.callId) ?? ''}`.trimEnd();
    this.#running.set(event.callId, { name, startedAt: this.#clock.monotonic(), tail: [''] });
    this.#draw('');
    this.#tick();
  }

  #keep(callId: string, chunk: string): void {
    const call = this.#running.get(callId);
    if (call === undefined) return;
    const [first = '', ...rest] = chunk.split('\n');
    const last = `${call.tail.at(-1) ?? ''}${first}`;
    call.tail = [...call.tail.slice(0, -1), last, ...rest]
      .map((line) => line.slice(-KEPT_CHARACTERS))
      .slice(-OUTPUT_LINES - 1);
  }

  #tick(): void {
    this.#stopTicking ??= this.#clock.after(FRAME_MS, () => {
      this.#stopTicking = undefined;
      if (this.#running.size === 0) return;
      this.#frame++;
      this.#draw('');
      this.#tick();
    });
  }

  /** Prints a line that stays, above what is redrawn. */
  #print(line: string): void {
    this.#draw(`${line}\n`);
  }

  #draw(above: string): void {
    if (this.#holds > 0) {
      this.#out.write(above);
      return;
    }
    // What has left the top of the screen cannot be taken back.
    const room = Math.max(1, this.#out.rows - 2);
    const output = Math.min(OUTPUT_LINES, Math.floor(room / Math.max(1, this.#running.size)) - 1);
    const lines = [...this.#running.values()].flatMap((call) => this.#linesOf(call, output)).slice(0, room);
    const takeBack = this.#drawnLines === 0 ? '' : `\r\u001b[${this.#drawnLines}A\u001b[0J`;
    const drawing = lines.length === 0 ? '' : `\u001b[?7l${lines.join('\n')}\n\u001b[?7h`;
    this.#out.write(`${takeBack}${above}${drawing}`);
    this.#drawnLines = lines.length;
  }

  #drawNothing(): void {
    if (this.#drawnLines > 0) this.#out.write(`\r\u001b[${this.#drawnLines}A\u001b[0J`);
    this.#drawnLines = 0;
  }

  #linesOf({ name, startedAt, tail }: RunningCall, output: number): string[] {
    const elapsed = describeDuration(this.#clock.monotonic() - startedAt);
    const spinner = FRAMES[this.#frame % FRAMES.length] ?? '';
    const printed = tail.at(-1) === '' ? tail.slice(0, -1) : tail;
    return [
      `${this.#palette.yellow(spinner)} ${name} ${this.#palette.dim(elapsed)}`,
      ...printed
        .slice(Math.max(0, printed.length - output))
        .map((line) => this.#palette.dim(`  ${sanitize(line, 'inline')}`)),
    ];
  }
}
