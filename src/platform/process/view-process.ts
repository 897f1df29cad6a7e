import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { spawnWithSockets } from './spawn.js';

/** A process that does nothing but see the file system in its own way. */
export interface ViewProcess {
  readonly pid: number;
  /** Before the paths that it sees. */
  readonly root: string;
  readonly isAlive: boolean;
  /** Ends it; resolves when it is gone. What it saw is gone with it, once no process has any of it open. */
  end(): Promise<void>;
}

/**
 * Starts a program that says `ready` when it sees what it is meant to see, and ends with its input: with this
 * process, however that ends.
 * @param places held open, that it inherits as descriptors 5, 6 and so on
 * @throws Error with what it says where it does not come so far
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
    // It is waited for, and keeps this program alive no longer by itself.
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
  // A program that has forgotten it must be able to end.
  process.unref();
  let isAlive = true;
  void process.ended.then(() => {
    isAlive = false;
  });
  return {
    pid: process.pid,
    root: `/proc/${process.pid}/root`,
    get isAlive() {
      // It may be dead before we are told.
      return isAlive && existsSync(`/proc/${process.pid}/ns/mnt`);
    },
    end,
  };
}
