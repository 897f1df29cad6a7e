import type { ToolResult } from '../../contract/call.js';
import type { Clock } from '../../contract/context.js';
import type { ToolEvent } from '../../contract/executor.js';
import { sanitize } from '../../output/sanitize.js';
import type { TextOutput } from '../../platform/runtime/stdio.js';
import { describeDuration, describeName, outcomeOf, type RecordedOutcome } from './describe-call.js';
import type { Display } from './display.js';
import {
  asLeft,
  cutToWidth,
  describeWithin,
  drawTail,
  foldLine,
  SHOWN_LINES,
  visibleWidth,
} from './fit-line.js';
import type { Palette } from './terminal-text.js';

/** A longer call gets a line before it ends. */
const QUICK_MS = 500;
/** A running call gets another line after each of these times; then one per minute. */
const STILL_MS = [2_000, 5_000, 10_000, 20_000, 30_000, 60_000];
const MINUTE_MS = 60_000;
/** An output line may be endless; only this much of the current one is kept. */
const KEPT_CHARACTERS = 2000;
const OUTCOMES: readonly RecordedOutcome[] = ['ok', 'failed', 'ran, cancelled', 'not run', 'unknown'];
const LEAST_COLUMNS = 40;

interface RunningCall {
  readonly startedAt: number;
  /** The last output lines; the last one may still grow. */
  tail: readonly string[];
  /** Cancels the next progress line. */
  forget: () => void;
}

/**
 * For a person at a terminal (D091, D092): permanent lines. A call gets one line when it ends; a long call
 * also gets one at its start, and regular ones with its time and last output. Written lines never change, so
 * scrolling, recording and screen readers show what happened.
 */
export function createProgressLines(
  out: TextOutput,
  palette: Palette,
  clock: Clock,
  { isOutputBelow = false }: ProgressSettings = {},
): Display {
  return new ProgressLines(out, palette, clock, isOutputBelow);
}

export interface ProgressSettings {
  /** The caller shows a call's output below its line. Default false: the line contains the end of it. */
  readonly isOutputBelow?: boolean;
}

class ProgressLines implements Display {
  readonly #out: TextOutput;
  readonly #palette: Palette;
  readonly #clock: Clock;
  readonly #isOutputBelow: boolean;
  readonly #summaries = new Map<string, string>();
  readonly #running = new Map<string, RunningCall>();
  readonly #outcomes = new Map<RecordedOutcome, number>();
  #firstAt: number | undefined;
  /** The time that questions were on the screen, which does not count for calls. */
  #heldMs = 0;
  #isSilent = true;
  /** The number of questions on the screen. */
  #holds = 0;
  /** Lines to show after the question. */
  #held: string[] = [];

  constructor(out: TextOutput, palette: Palette, clock: Clock, isOutputBelow: boolean) {
    this.#out = out;
    this.#palette = palette;
    this.#clock = clock;
    this.#isOutputBelow = isOutputBelow;
  }

  event(event: ToolEvent): void {
    this.#firstAt ??= this.#clock.monotonic();
    switch (event.type) {
      case 'planned':
        // A second call with this id does not run and has no summary: the first one keeps its own.
        if (event.plan.summary !== '')
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
        this.#complete(event.callId, event.result);
        break;
      default:
    }
  }

  note(message: string): void {
    this.#print(`toolexec: ${sanitize(message, 'inline')}`);
  }

  hold(): () => void {
    const since = this.#clock.monotonic();
    this.#holds++;
    this.#isSilent = false;
    return () => {
      if (--this.#holds > 0) return;
      this.#heldMs += this.#clock.monotonic() - since;
      this.#out.write(this.#held.join(''));
      this.#held = [];
    };
  }

  end(): void {
    for (const { forget } of this.#running.values()) forget();
    this.#running.clear();
    this.#summarize();
    this.#summaries.clear();
    this.#outcomes.clear();
    this.#firstAt = undefined;
    this.#heldMs = 0;
  }

  #start(event: ToolEvent): void {
    const call: RunningCall = { startedAt: this.#clock.monotonic(), tail: [''], forget: () => {} };
    this.#running.set(event.callId, call);
    const begin = (): void => {
      const what = this.#summaries.get(event.callId) ?? '';
      this.#print(this.#fitted(`${this.#palette.dim('▸')} ${describeName(event)}`, ` ${what}`));
      this.#keepSaying(event, call, 0);
    };
    // After Enter, the person sees at once that something happens.
    if (this.#isSilent) begin();
    else call.forget = this.#clock.after(QUICK_MS, begin);
  }

  #keepSaying(event: ToolEvent, call: RunningCall, turn: number): void {
    const last = STILL_MS.length - 1;
    const at = turn <= last ? (STILL_MS[turn] ?? 0) : (STILL_MS[last] ?? 0) + (turn - last) * MINUTE_MS;
    const passed = this.#clock.monotonic() - call.startedAt;
    call.forget = this.#clock.after(Math.max(0, at - passed), () => {
      // Below the answer to a question, earlier times are misleading.
      if (this.#holds === 0) {
        const elapsed = this.#palette.dim(describeDuration(this.#clock.monotonic() - call.startedAt));
        const printed = lastLineOf(call.tail);
        this.#print(this.#fitted(`${this.#palette.dim('…')} ${describeName(event)} ${elapsed}`, printed));
      }
      this.#keepSaying(event, call, turn + 1);
    });
  }

  #keep(callId: string, chunk: string): void {
    const call = this.#running.get(callId);
    if (call === undefined) return;
    const [first = '', ...rest] = chunk.split('\n');
    const lines = [...call.tail.slice(0, -1), `${call.tail.at(-1) ?? ''}${first}`, ...rest];
    const growing = (lines.pop() ?? '').slice(-KEPT_CHARACTERS);
    call.tail = [
      ...lines
        .map(asLeft)
        .filter((line) => line !== '')
        .slice(-SHOWN_LINES),
      growing,
    ];
  }

  #complete(callId: string, result: ToolResult): void {
    const call = this.#running.get(callId);
    call?.forget();
    this.#running.delete(callId);
    const tail = this.#isOutputBelow ? [] : (call?.tail ?? []);
    const what = this.#summaries.get(callId) ?? '';
    const described = describeWithin(this.#columns, result, what, this.#palette);
    this.#print(this.#fitted(described, result.success ? lastLineOf(tail) : ''));
    if (!result.success) for (const line of drawTail(tail, this.#columns, this.#palette)) this.#print(line);
    const outcome = outcomeOf({ state: 'done', result });
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
  }

  #summarize(): void {
    const counts = OUTCOMES.flatMap((outcome) => {
      const count = this.#outcomes.get(outcome);
      return count === undefined ? [] : [`${count} ${outcome}`];
    });
    const total = [...this.#outcomes.values()].reduce((sum, count) => sum + count, 0);
    if (total < 2) return;
    const now = this.#clock.monotonic();
    const took = now - (this.#firstAt ?? now) - this.#heldMs;
    this.#print(`${total} calls: ${counts.join(', ')} · ${describeDuration(took)}`);
  }

  /** A line followed by as much as fits. Its start is never cut. */
  #fitted(line: string, more: string): string {
    if (more.trim() === '') return line;
    const room = this.#columns - visibleWidth(line);
    return room < 10 ? line : `${line}${cutToWidth(more, room)}`;
  }

  get #columns(): number {
    return Math.max(this.#out.columns, LEAST_COLUMNS) - 1;
  }

  #print(line: string): void {
    this.#isSilent = false;
    const lines = foldLine(line, this.#columns)
      .map((piece) => `${piece}\n`)
      .join('');
    if (this.#holds > 0) this.#held.push(lines);
    else this.#out.write(lines);
  }
}

function lastLineOf(tail: readonly string[]): string {
  const line = tail.map(asLeft).findLast((text) => text !== '');
  return line === undefined ? '' : ` · ${line.trim()}`;
}
