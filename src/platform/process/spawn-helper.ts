import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';

/** A helper program of ours. Its input never contains anything and ends together with this program. */
export interface HelperProcess {
  readonly pid: number;
  /** Ends its input. Resolves when it is gone. */
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
 * Starts a helper in a separate session, so that no Ctrl-C reaches it. It does not keep this program alive,
 * and its input ends when this program ends, however that happens.
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

/** Ends the input of a helper, and kills it if it does not exit. Resolves when it is gone. */
export async function terminate(child: ChildProcess): Promise<void> {
  // A process that could not be started never exits.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.ref();
  child.stdin?.end();
  const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  await gone;
  clearTimeout(late);
}

const PATIENCE_MS = 1000;
