import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** A Node program that is started in order to be killed. */
export interface TrialProcess {
  /** The lines that it says. */
  readonly lines: AsyncIterable<string>;
  /** Without a word, so many milliseconds from now. */
  killAfter(delayMs: number): void;
  readonly ended: Promise<TrialEnd>;
}

export interface TrialEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** It did not end in time, and was killed for that. */
  readonly hung: boolean;
  /** The end of what it wrote to standard error. */
  readonly stderr: string;
}

export interface TrialStart {
  /** The module to run, in a Node of its own. */
  readonly program: URL;
  /** What it is handed. */
  readonly order: unknown;
  /** After that it is killed. */
  readonly patienceMs: number;
  /** A program and its arguments that start Node; empty: it is started directly. */
  readonly under: readonly string[];
}

export function startTrialProcess({ program, order, patienceMs, under }: TrialStart): TrialProcess {
  const [file, ...args] = [...under, process.execPath, ...process.execArgv, fileURLToPath(program)];
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(file as string, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = `${stderr}${chunk.toString()}`.slice(-4_000);
  });
  // It may be gone before it has read.
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(order));
  let hung = false;
  const patience = setTimeout(() => {
    hung = true;
    child.kill('SIGKILL');
  }, patienceMs);
  let strike: NodeJS.Timeout | undefined;
  const ended = once(child, 'close').then(([code, signal]): TrialEnd => {
    clearTimeout(patience);
    clearTimeout(strike);
    return { code: code as number | null, signal: signal as string | null, hung, stderr };
  });
  return {
    lines: createInterface({ input: child.stdout }),
    killAfter(delayMs) {
      strike = setTimeout(() => child.kill('SIGKILL'), delayMs);
    },
    ended,
  };
}

/** What the program was handed. */
export function readOrder(): unknown {
  return JSON.parse(readFileSync(0, 'utf8'));
}

/** In one write, so that it is the system's once this returns, whatever becomes of us. */
export function appendLine(path: string, line: string): void {
  appendFileSync(path, `${line}\n`);
}

export function sayLine(line: string): void {
  writeSync(1, `${line}\n`);
}

/** As if the power had gone. */
export function endAtOnce(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal takes a moment; nothing may happen in it.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}
