import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import type { Clock } from '../../contract/context.js';
import type { ToolEvent } from '../../contract/executor.js';
import { foldLine } from './fit-line.js';
import { createProgressLines } from './progress-lines.js';
import { createPalette } from './terminal-text.js';

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

function open(columns = 80) {
  let written = '';
  const out = {
    isTerminal: true,
    rows: 24,
    columns,
    write: (text: string) => {
      written += text;
    },
    flushed: async () => {},
    onResize: () => () => {},
    readerGone: new Promise<void>(() => {}),
  };
  const clock = new HandClock();
  const display = createProgressLines(out, createPalette(false, {}), clock);
  return { out, clock, display, lines: () => written.split('\n').slice(0, -1), written: () => written };
}

const base = (callId: string) => ({ callId, toolName: 'bash', at: 0 });
const started = (callId: string): ToolEvent => ({ ...base(callId), type: 'started' });
const printed = (callId: string, chunk: string): ToolEvent => ({ ...base(callId), type: 'stdout', chunk });
function planned(callId: string, summary: string): ToolEvent {
  const plan = {
    callId,
    toolName: 'bash',
    disposition: 'execute_now',
    effects: [],
    risk: 'low',
    origins: { seen: [], args: {} },
    containment: { transaction: false, network: false, undo: false },
    summary,
    reason: '',
  } as const;
  return { ...base(callId), type: 'planned', plan };
}
function completed(callId: string, error?: ToolResult['error']): ToolEvent {
  const common = { callId, toolName: 'bash', output: '', truncated: false, executionTimeMs: 5, metadata: {} };
  const result: ToolResult =
    error === undefined ? { ...common, success: true } : { ...common, success: false, error };
  return { ...base(callId), type: 'completed', result };
}
const FAILED = { code: 'execution_failed', message: 'exit code 1', details: { executed: 'yes' } } as const;
const DENIED = { code: 'user_denied', message: 'not now', details: { executed: 'no' } } as const;

describe('createProgressLines()', () => {
  it('writes one line per call when it ends: its summary, its time and its last output', () => {
    const { display, lines } = open();
    display.note('hello');
    display.event(planned('c1', 'Read a.txt'));
    display.event(started('c1'));
    display.event(printed('c1', 'one\ntw'));
    display.event(printed('c1', 'o\n'));
    display.event(completed('c1'));
    expect(lines().slice(1)).toEqual(['✓ bash (c1) Read a.txt · 5 ms · two']);
  });

  it('reports progress immediately if nothing was shown before', () => {
    const { display, lines } = open();
    display.event(planned('c1', 'Run command: make'));
    display.event(started('c1'));
    expect(lines()).toEqual(['▸ bash (c1) Run command: make']);
  });

  it('has a long call say its time and its last line, at first often and then rarely', () => {
    const { display, clock, lines } = open();
    display.note('hello');
    display.event(started('c1'));
    clock.pass(499);
    expect(lines()).toEqual(['toolexec: hello']);
    clock.pass(1);
    display.event(printed('c1', 'step 1\nstep 2\n'));
    clock.pass(200_000);
    expect(lines().slice(1)).toEqual([
      '▸ bash (c1)',
      ...['2.0 s', '5.0 s', '10.0 s', '20.0 s', '30.0 s', '1 min 00 s', '2 min 00 s', '3 min 00 s'].map(
        (time) => `… bash (c1) ${time} · step 2`,
      ),
    ]);
    display.event(completed('c1'));
    expect(clock.idle).toBe(true);
  });

  it('shows the last five lines of a call that failed, none of which can pass for a line of ours', () => {
    const { display, lines } = open();
    display.event(started('c1'));
    display.event(printed('c1', `${[1, 2, 3, 4, 5].join('\n')}\n10%\r✓ bash (c2) 5 ms\u001b[2J\r\n\n`));
    display.event(completed('c1', FAILED));
    expect(lines().slice(1)).toEqual([
      '✗ bash (c1) 5 ms execution_failed: exit code 1',
      ...['  │ 2', '  │ 3', '  │ 4', '  │ 5', '  │ ✓ bash (c2) 5 ms'],
    ]);
  });

  it('says why a call did not run', () => {
    const { display, lines } = open();
    display.event(planned('c1', 'Remove build'));
    display.event(completed('c1', DENIED));
    expect(lines()).toEqual(['⊘ bash (c1) Remove build · user_denied: not now']);
  });

  it('counts at the end what became of more than one call, without the time of questions', () => {
    const { display, clock, lines } = open();
    display.event(planned('c1', 'one'));
    const release = display.hold();
    clock.pass(60_000);
    release();
    clock.pass(1500);
    for (const [id, error] of [['c1'], ['c2', FAILED], ['c3', DENIED]] as const)
      display.event(completed(id, error));
    display.end();
    expect(lines().at(-1)).toBe('3 calls: 1 ok, 1 failed, 1 not run · 1.5 s');
    display.event(completed('c4'));
    display.end();
    expect(lines().at(-1)).toBe('✓ bash (c4) 5 ms');
  });

  it('leaves the screen to a question, and then shows what happened during it', () => {
    const { display, clock, lines } = open();
    const first = display.hold();
    const second = display.hold();
    display.event(started('c1'));
    clock.pass(3000);
    first();
    expect(lines()).toEqual([]);
    second();
    expect(lines()).toEqual(['▸ bash (c1)']);
  });

  it('keeps the summary of a call when another one has its id', () => {
    const { display, lines } = open();
    display.event(planned('c1', 'Run tests'));
    display.event(planned('c1', ''));
    display.event(started('c1'));
    expect(lines()).toEqual(['▸ bash (c1) Run tests']);
  });

  it('breaks a long line between words, with its colours, and continues below it', () => {
    const green = '\u001b[32m✓\u001b[39m';
    expect(foldLine(`${green} ${'word '.repeat(6)}end`, 16)).toEqual([
      `${green} word word word`,
      '  word word word',
      '  end',
    ]);
    const { display, lines } = open(40);
    display.note('the model could not be asked: the connection failed');
    expect(lines()).toEqual(['toolexec: the model could not be asked:', '  the connection failed']);
  });

  it('writes nothing that moves the cursor, and fits its lines to the width, wide characters too', () => {
    const { out, display, clock, lines, written } = open(40);
    display.event(planned('c1', '说明'.repeat(40)));
    display.event(started('c1'));
    display.event(printed('c1', `${'数'.repeat(5000)}\n`));
    clock.pass(2000);
    expect(lines()).toEqual([
      '▸ bash (c1) 说明说明说明说明说明说明说…',
      '… bash (c1) 2.0 s · 数数数数数数数数数…',
    ]);
    out.columns = 80;
    clock.pass(3000);
    expect(lines().at(-1)?.length).toBeGreaterThan(40);
    expect(written()).not.toMatch(/[\u001b\r\u0008]/);
  });
});
