import type { Socket } from 'node:net';
import type { ProcessEnd, StartedProcess } from './spawn.js';

/** A process that the spawn server has started, and that has no listener yet. */
export interface OpenedProcess {
  readonly pid: number;
  readonly startTicks: number;
  readonly stdout: Socket;
  readonly stderr: Socket;
  /** What `/proc` shows for them. */
  readonly outputs: readonly string[];
  readonly ended: Promise<ProcessEnd>;
}

export interface HandOver {
  /** The last number that was given to any process before its program began. */
  readonly after: number;
  /** Called once, when this program need not go on for it any more. */
  readonly letGo: () => void;
}

/** To the caller that asked for it: from now on it keeps this program alive. */
export function handOver(opened: OpenedProcess, { after, letGo }: HandOver): StartedProcess {
  const { pid, startTicks, outputs, stdout, stderr, ended } = opened;
  stdout.ref();
  stderr.ref();
  let holds = true;
  const once = (): void => {
    if (holds) letGo();
    holds = false;
  };
  void ended.then(once);
  return {
    pid,
    stdout,
    stderr,
    ended,
    seen: { startTicks, after, outputs },
    unref() {
      stdout.unref();
      stderr.unref();
      once();
    },
    release() {
      closeOutputs(opened);
      once();
    },
  };
}

export function closeOutputs({ stdout, stderr }: OpenedProcess): void {
  stdout.destroy();
  stderr.destroy();
}
