import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { systemClock } from '../clock/clock.js';

/** The lock was taken, or the time limit has passed. */
export interface MachineLock {
  /** Another process, or another part of this process, held the lock first. */
  readonly hasWaited: boolean;
  release(): void;
}

/**
 * Takes a lock that one process of this machine holds at a time. It is the name of a socket that leaves
 * nothing on disk, so it ends with its process, however the process ends. After `limitMs` the caller continues without
 * the lock.
 */
export async function takeMachineLock(name: string, limitMs: number): Promise<MachineLock> {
  const path = `\0toolexec-${createHash('sha256').update(name).digest('hex').slice(0, 40)}`;
  const start = systemClock.monotonic();
  for (let tries = 0; ; tries++) {
    const server = await listen(path);
    if (server === 'not possible') return { hasWaited: tries > 0, release() {} };
    if (server !== 'taken') return { hasWaited: tries > 0, release: () => void server.close() };
    if (systemClock.monotonic() - start > limitMs) return { hasWaited: true, release() {} };
    await new Promise<void>((resolve) => systemClock.after(Math.min(20, 1 + 2 * tries), resolve));
  }
}

function listen(path: string): Promise<Server | 'taken' | 'not possible'> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error) => {
      resolve('code' in error && error.code === 'EADDRINUSE' ? 'taken' : 'not possible');
    });
    server.listen(path, () => {
      server.unref();
      resolve(server);
    });
  });
}
