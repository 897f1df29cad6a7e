import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Lets a process of ours read the end of its input, and kills one that takes no notice. Resolves when it is gone. */
export async function seeOff(child: ChildProcess): Promise<void> {
  // One that could not be started never exits.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.ref();
  child.stdin?.end();
  const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  await gone;
  clearTimeout(late);
}

const PATIENCE_MS = 1000;
