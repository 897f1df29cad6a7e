import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import type { ToolCall } from '../../src/contract/call.js';
import type { Executor } from '../../src/contract/executor.js';
import type { JsonObject } from '../../src/contract/json.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import type { ExecutorOptions } from '../../src/executor/executor-options.js';
import { builtCommand } from '../cli/built-command.js';

export interface KilledRun {
  readonly root: string;
  readonly journal: string;
  /** `before` or `after`, and the operation of the journal, or `put`; or `before step`. */
  readonly at: string;
  /** The number of the occurrence; default the first. */
  readonly nth?: number;
  readonly calls: readonly ToolCall[];
  readonly conversation?: string;
  readonly parallel?: boolean;
  /** The transaction mode of its commands; default `auto`. */
  readonly transactions?: 'off';
  /** Undoes this call, and runs no other. */
  readonly undo?: string;
  /** Recovers, and runs no call. */
  readonly recover?: boolean;
  /** Its calls arrive one after the other, each with a sentence, and run when all have arrived. */
  readonly streamed?: boolean;
  /** A program that starts it, with its arguments. */
  readonly under?: readonly string[];
}

/** Starts calls in a process that kills itself at one moment. */
export function startKilledRun(run: KilledRun): ChildProcessByStdio<null, Readable, null> {
  const dist = pathToFileURL(dirname(dirname(builtCommand()))).href;
  const { under = [] } = run;
  const program = [
    process.execPath,
    join(import.meta.dirname, 'die-at.mjs'),
    JSON.stringify({ dist, ...run }),
  ];
  const [file = '', ...args] = [...under, ...program];
  return spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** @throws Error if it was not killed: then it never reached that moment. */
export async function runUntilKilled(run: KilledRun): Promise<void> {
  if (!(await isKilled(run))) throw new Error(`It was to die ${run.at}, and ended well.`);
}

/** False: it ran to its end. @throws Error if it failed */
export async function isKilled(run: KilledRun): Promise<boolean> {
  const child = startKilledRun(run);
  child.stdout.resume();
  const [code, signal]: unknown[] = await once(child, 'close');
  // A shell around it reports the signal with its own exit code.
  const wasKilled = signal === 'SIGKILL' || code === 128 + 9;
  if (!wasKilled && code !== 0)
    throw new Error(`It was to die ${run.at}, and ended with ${String(code ?? signal)}.`);
  return wasKilled;
}

/** An empty root, and a place for a journal beside it. */
export function newDesk(): { readonly root: string; readonly journal: string } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'recovery-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, 'root');
  mkdirSync(root);
  return { root, journal: join(folder, 'journal.db') };
}

/** An executor in this process without a person; closed with the test. */
export function executorFor(options: ExecutorOptions): Executor {
  const executor = createExecutor({ approver: null, policy: null, ...options });
  onTestFinished(() => executor.close());
  return executor;
}

/** Every file with its content, including temporary files, and every directory. */
export function filesOf(root: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(root, { withFileTypes: true, recursive: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [
        relative(root, path),
        entry.isDirectory() ? '<directory>' : readFileSync(path, 'utf8'),
      ] as const;
    }),
  );
}

export const call = (name: string, args: JsonObject, id = name): ToolCall => ({ id, name, args });
