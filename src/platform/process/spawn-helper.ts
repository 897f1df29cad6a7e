import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';

/** A program of ours that runs beside us, with an input in which nothing ever comes but its end. */
export interface HelperProcess {
  readonly pid: number;
  /** Lets it read the end of its input. Resolves when it is gone. */
  end(): Promise<void>;
}

export interface HelperStart {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** An open file that it inherits as descriptor 3. */
  readonly inherit: number;
  /** Called once, when it cannot be started or has ended. */
  readonly onGone: () => void;
}

/**
 * Starts a helper in a session of its own, so that no Ctrl-C reaches it. It does not keep this program alive, and
 * reads the end of its input when this program ends, however that happens.
 */
export function spawnHelper({ file, args, env, inherit, onGone }: HelperStart): HelperProcess | undefined {
  const child = spawn(file, args, {
    cwd: '/',
    env,
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'ignore', 'ignore', inherit],
  });
  child.once('error', onGone);
  child.once('exit', onGone);
  const { pid, stdin } = child;
  if (pid === undefined || stdin === null) return undefined;
  stdin.on('error', () => {});
  if (stdin instanceof Socket) stdin.unref();
  child.unref();
  return {
    pid,
    end: () => terminate(child),
  };
}

/** Lets a process of ours read the end of its input, and kills one that takes no notice. Resolves when it is gone. */
export async function terminate(child: ChildProcess): Promise<void> {
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
