import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import type { Clock } from '../../contract/context.js';
import type { ToolEvent } from '../../contract/executor.js';
import { createLiveDisplay } from './live-display.js';
import { createPalette } from './terminal-text.js';

/** A terminal that understands what the display writes: lines, cursor up, erase below. */
class Screen {
  readonly isTerminal = true;
  readonly columns = 80;
  readonly rows: number;
  lines: string[] = [''];
  /** The cursor tried to leave the top. */
  torn = false;

  constructor(rows = 24) {
    this.rows = rows;
  }

  write(text: string): void {
    for (const part of text.split(/(\u001b\[\??[0-9]*[A-Za-z]|\r|\n)/)) this.#apply(part);
  }

  async flushed(): Promise<void> {}

  #apply(part: string): void {
    const up = /^\u001b\[([0-9]+)A$/.exec(part)?.[1];
    if (up !== undefined) {
      if (Number(up) >= this.rows) this.torn = true;
      this.lines.length -= Number(up);
      this.lines[this.lines.length - 1] = '';
    } else if (part === '\n') this.lines.push('');
    else if (!part.startsWith('\u001b') && part !== '\r') this.lines[this.lines.length - 1] += part;
  }
}

class HandClock implements Clock {
  #ms = 0;
  readonly #waiting = new Map<() => void, number>();
  now = (): number => this.#ms;
  monotonic = (): number => this.#ms;
  after(delayMs: number, callback: () => void): () => void {
    this.#waiting.set(callback, this.#ms + delayMs);
    return () => this.#waiting.delete(callback);
  }
  get idle(): boolean {
    return this.#waiting.size === 0;
  }
  pass(ms: number): void {
    for (const end = this.#ms + ms; this.#ms < end; ) {
      this.#ms++;
      for (const [callback, at] of [...this.#waiting]) {
        if (at > this.#ms) continue;
        this.#waiting.delete(callback);
        callback();
      }
    }
  }
}

const started = (callId: string): ToolEvent => ({ type: 'started', callId, toolName: 'bash', at: 0 });
const printed = (callId: string, chunk: string): ToolEvent => ({
  type: 'stdout',
  callId,
  toolName: 'bash',
  at: 0,
  chunk,
});
function completed(callId: string): ToolEvent {
  const result: ToolResult = {
    callId,
    toolName: 'bash',
    success: true,
    output: '',
    truncated: false,
    executionTimeMs: 5,
    metadata: {},
  };
  return { type: 'completed', callId, toolName: 'bash', at: 0, result };
}

function open(rows?: number) {
  const screen = new Screen(rows);
  const clock = new HandClock();
  return { screen, clock, display: createLiveDisplay(screen, createPalette(false, {}), clock) };
}

describe('createLiveDisplay()', () => {
  it('draws a running call in one place, with its time and its last lines, and leaves one line of it', () => {
    const { screen, clock, display } = open();
    display.event(started('c1'));
    display.event(printed('c1', 'one\ntwo\nthr'));
    display.event(printed('c1', 'ee'));
    clock.pass(1200);
    expect(screen.lines).toEqual([
      expect.stringMatching(/^. bash \(c1\) 1\.2 s$/),
      '  one',
      '  two',
      '  three',
      '',
    ]);
    display.event(completed('c1'));
    expect(screen.lines).toEqual(['✓ bash (c1) 5 ms', '']);
  });

  it('keeps the last five lines', () => {
    const { screen, clock, display } = open();
    display.event(started('c1'));
    display.event(printed('c1', `${Array.from({ length: 50 }, (_, line) => line).join('\n')}\n`));
    clock.pass(100);
    expect(screen.lines.slice(1, -1)).toEqual(['  45', '  46', '  47', '  48', '  49']);
  });

  it('draws the calls that run side by side below the finished ones', () => {
    const { screen, display } = open();
    for (const id of ['c1', 'c2', 'c3']) display.event(started(id));
    display.event(completed('c2'));
    expect(screen.lines.map((line) => line.replace(/^[^✓] /, ''))).toEqual([
      '✓ bash (c2) 5 ms',
      'bash (c1) 0 ms',
      'bash (c3) 0 ms',
      '',
    ]);
  });

  it('never draws more than the screen holds', () => {
    const { screen, clock, display } = open(6);
    for (let call = 0; call < 20; call++) {
      display.event(started(`c${call}`));
      display.event(printed(`c${call}`, 'a\nb\nc\nd\ne\n'));
    }
    clock.pass(500);
    expect(screen.torn).toBe(false);
    expect(screen.lines.length).toBeLessThanOrEqual(6);
  });

  it('lets no output of a command move the cursor', () => {
    const { screen, clock, display } = open();
    display.event(started('c1'));
    display.event(printed('c1', 'a\u001b[5A\rb\n'));
    clock.pass(100);
    expect(screen.torn).toBe(false);
    expect(screen.lines).toHaveLength(3);
  });

  it('leaves no timer and no half-drawn line behind', () => {
    const { screen, clock, display } = open();
    display.event(started('c1'));
    display.note('something');
    display.end();
    expect(screen.lines).toEqual(['toolexec: something', '']);
    expect(clock.idle).toBe(true);
  });
});
