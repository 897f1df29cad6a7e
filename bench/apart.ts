import { type ChildProcess, fork } from 'node:child_process';
import type { Contender } from './measure.js';

/** What runs apart from us, see `apart-main.ts`. */
export type ApartName = 'floor' | 'mcp';

/** Asked of the other process. */
export interface ApartTask {
  readonly calls: number;
  /** Calls under way at once. */
  readonly together: number;
}

export type ApartAnswer =
  | { readonly ready: true }
  | { readonly skipped: string }
  /** Processor time of that process since it was started. */
  | { readonly cpuUs: number };

export interface Apart {
  contender(task: ApartTask): Contender;
  close(): void;
}

/**
 * A floor or a peer in a process of its own. To tell whose tool a stray error belongs to, the executor follows
 * asynchronous calls, and up to Node 22 this makes every promise of its process slower: nobody else should pay for it.
 */
export async function runApart(name: ApartName): Promise<Apart | { readonly skipped: string }> {
  const child = fork(new URL('./apart-main.ts', import.meta.url), [name], {
    execArgv: process.execArgv.filter((option) => !option.startsWith('--expose-gc')),
  });
  const first = await answerOf(child);
  if ('skipped' in first) {
    child.disconnect();
    return first;
  }
  let cpuUs = 0;
  return {
    contender: (task) => ({
      units: task.calls,
      cpuUs: () => cpuUs,
      async run() {
        const answer = answerOf(child);
        child.send(task);
        const told = await answer;
        if ('cpuUs' in told) cpuUs = told.cpuUs;
      },
    }),
    close: () => child.disconnect(),
  };
}

function answerOf(child: ChildProcess): Promise<ApartAnswer> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`its process ended with code ${code}`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message as ApartAnswer);
    });
  });
}
