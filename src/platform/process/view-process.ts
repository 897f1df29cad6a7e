import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { spawnWithSockets } from './spawn.js';

/** A process whose only purpose is to see the file system from inside its own mount namespace. */
export interface ViewProcess {
  readonly pid: number;
  /** The prefix for paths as that process sees them. */
  readonly root: string;
  readonly isAlive: boolean;
  /**
   * Ends it; resolves when it has ended. Its mounts are gone with it, once no process has any of them open.
   */
  end(): Promise<void>;
}

/**
 * Starts a program that prints `ready` when its mounts are in place, and that ends when its input ends, so
 * together with this process, however that ends.
 * @param places open directories that it inherits as descriptors 5, 6 and so on
 * @throws Error with the program's message if it does not get that far
 */
export async function startView(command: readonly string[], places: readonly number[]): Promise<ViewProcess> {
  const [file = '', ...args] = command;
  const process = await spawnWithSockets({
    file,
    name: 'unshare',
    args,
    cwd: '/',
    env: {},
    input: 'pipe',
    places,
  });
  let said = '';
  process.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  process.stdin?.on('error', () => {});
  const isReady = await Promise.race([
    once(process.stdout, 'data').then(() => true),
    process.ended.then(() => false),
  ]);
  const end = async (): Promise<void> => {
    // The caller is waiting for it; the process itself no longer keeps this program running.
    const alive = setInterval(() => {}, 1000);
    process.stdin?.end();
    await process.ended;
    clearInterval(alive);
    process.release();
  };
  if (!isReady) {
    await end();
    throw new Error(said.trim().split('\n').at(-1) || 'it ended before it was ready');
  }
  // A program that never ends its view must still be able to end.
  process.unref();
  let isAlive = true;
  void process.ended.then(() => {
    isAlive = false;
  });
  return {
    pid: process.pid,
    root: `/proc/${process.pid}/root`,
    get isAlive() {
      // The process may die before this program learns that it is ready.
      return isAlive && existsSync(`/proc/${process.pid}/ns/mnt`);
    },
    end,
  };
}
