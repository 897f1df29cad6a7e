import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** A Node program that is started to be killed. */
export interface TrialProcess {
  /** The lines that it prints. */
  readonly lines: AsyncIterable<string>;
  /** Kills it with SIGKILL after the given number of milliseconds. */
  killAfter(delayMs: number): void;
  readonly ended: Promise<TrialEnd>;
}

export interface TrialEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** It did not end in time and was killed. */
  readonly hung: boolean;
  /** The end of its standard error. */
  readonly stderr: string;
}

export interface TrialStart {
  /** The module to run, in its own Node process. */
  readonly program: URL;
  /** The value that is passed to it. */
  readonly order: unknown;
  /** The time limit in milliseconds; after it the program is killed. */
  readonly patienceMs: number;
  /** A program and its arguments that start Node. Empty: Node is started directly. */
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
  // The program may have ended before it read its input.
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

/** The value that was passed to the program. */
export function readOrder(): unknown {
  return JSON.parse(readFileSync(0, 'utf8'));
}

/** Appends a line in one write. After it returns, the system has the line, even if this process dies. */
export function appendLine(path: string, line: string): void {
  appendFileSync(path, `${line}\n`);
}

export function sayLine(line: string): void {
  writeSync(1, `${line}\n`);
}

/** Ends this process immediately, as a power failure would. */
export function endAtOnce(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal takes a moment to arrive; nothing may happen until then.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}
