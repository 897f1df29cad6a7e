import { execFile } from 'node:child_process';
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

/** A pipe of which we read one end. */
export interface OpenPipe {
  readonly reader: number;
  /** For somebody else; to be closed here once they have it. */
  readonly writer: number;
  /** What `/proc` shows for it. */
  readonly name: string;
}

/**
 * Two real pipes: what Node makes are sockets, which a command cannot open by the name `/dev/stderr`. Undefined where
 * the system makes none for us.
 */
export async function openPipes(): Promise<readonly [OpenPipe, OpenPipe] | undefined> {
  // Node takes what a worker has opened for its own, and closes the number again at the worker's end, whoever has it then.
  if (process.platform !== 'linux' || !isMainThread) return undefined;
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'toolexec-pipes-'));
    const names = [join(folder, '1'), join(folder, '2')] as const;
    await makePipes(names);
    return [openPipe(names[0]), openPipe(names[1])];
  } catch {
    return undefined;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function makePipes(names: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile('mkfifo', ['-m', '600', ...names], (error) => (error === null ? resolve() : reject(error)));
  });
}

function openPipe(name: string): OpenPipe {
  // The reader comes first, and does not wait for a writer.
  const reader = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { reader, writer: openSync(name, constants.O_WRONLY), name: `${name} (deleted)` };
  } catch (error) {
    closeSync(reader);
    throw error;
  }
}
