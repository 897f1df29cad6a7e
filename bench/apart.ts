import { type ChildProcess, fork } from 'node:child_process';
import type { Scale } from './contents.js';
import type { Contender } from './measure.js';
import type { PeerName } from './peers/open-peer.js';

/** The programs in separate processes; see `apart-main.ts`. */
export type ApartName = 'floor' | PeerName;

/** Asked of the other process. */
export interface ApartTask {
  readonly calls: number;
  /** Calls under way at once. */
  readonly together: number;
  /** Counts what calls allocate, over rounds of so many, instead of making them once. */
  readonly counting?: Scale;
}

export type ApartAnswer =
  | { readonly ready: true }
  | { readonly skipped: string }
  /** Processor time of that process since it was started. */
  | { readonly cpuUs: number }
  | { readonly bytes: number };

export interface Apart {
  contender(task: ApartTask): Contender;
  /** Allocated by each call. */
  bytes(task: ApartTask & { readonly counting: Scale }): Promise<number>;
  close(): void;
}

/**
 * Runs a floor or a peer in a separate process, with the same options of Node. To assign a stray error to a
 * tool, the executor follows asynchronous calls; up to Node 22, this makes every promise of the process
 * slower. The peers do not pay for that.
 */
export async function runApart(name: ApartName): Promise<Apart | { readonly skipped: string }> {
  const child = fork(new URL('./apart-main.ts', import.meta.url), [name]);
  const first = await answerOf(child);
  if ('skipped' in first) {
    child.disconnect();
    return first;
  }
  const ask = (task: ApartTask): Promise<ApartAnswer> => {
    const answer = answerOf(child);
    child.send(task);
    return answer;
  };
  let cpuUs = 0;
  return {
    contender: (task) => ({
      units: task.calls,
      cpuUs: () => cpuUs,
      async run() {
        const answer = await ask(task);
        if ('cpuUs' in answer) cpuUs = answer.cpuUs;
      },
    }),
    async bytes(task) {
      const answer = await ask(task);
      return 'bytes' in answer ? answer.bytes : Number.NaN;
    },
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
