import type { Socket } from 'node:net';
import type { ProcessEnd, StartedProcess } from './spawn.js';

/** A process that the spawn server has started, without listeners so far. */
export interface OpenedProcess {
  readonly pid: number;
  readonly startTicks: number;
  readonly stdout: Socket;
  readonly stderr: Socket;
  /** Their names in `/proc`. */
  readonly outputs: readonly string[];
  readonly ended: Promise<ProcessEnd>;
}

export interface HandOver {
  /** The last process number that was assigned before its program began. */
  readonly after: number;
  /** Called once, when this program need no longer stay alive for it. */
  readonly letGo: () => void;
}

/** Hands the process over to its caller. From then on it keeps this program alive. */
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
