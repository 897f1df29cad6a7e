import { spawn } from 'node:child_process';
import { Readable } from 'node:stream';

/** A program of ours that reads files and starts nothing. */
export interface ReaderStart {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Open files that it inherits, as descriptors 3, 4, … */
  readonly inherit: readonly number[];
}

export interface ReaderEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The beginning of what it says about itself. */
  readonly stderr: string;
}

export interface Reader {
  readonly stdout: Readable;
  /** Resolves when it is gone and everything it wrote has been read. Rejects with the system's error. */
  readonly ended: Promise<ReaderEnd>;
  /** Ends it now. It has nothing that could be left behind. */
  kill(): void;
}

const KEPT_ERROR_BYTES = 16 * 1024;

/**
 * Starts it without standard input and without any environment, which could tell it what to do.
 * @throws the system's error (with `code`) when the arguments cannot be handed over.
 */
export function spawnReader(start: ReaderStart): Reader {
  const child = spawn(start.file, start.args, {
    cwd: start.cwd,
    env: {},
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'pipe', ...start.inherit],
  });
  const said: Buffer[] = [];
  let saidBytes = 0;
  // Where not even pipes could be had, there are none to read, and the error says so.
  child.stderr?.on('data', (chunk: Buffer) => {
    if (saidBytes < KEPT_ERROR_BYTES) said.push(chunk);
    saidBytes += chunk.length;
  });
  const ended = new Promise<ReaderEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode, signal) => {
      const stderr = Buffer.concat(said).toString('utf8').slice(0, KEPT_ERROR_BYTES);
      resolve({ exitCode, signal, stderr });
    });
  });
  return {
    stdout: child.stdout ?? Readable.from([]),
    ended,
    kill() {
      child.kill('SIGKILL');
    },
  };
}

/**
 * The path by which a program opens the file that it has inherited as its `index`-th (the first is its descriptor 3).
 */
export function descriptorPath(index: number): string {
  return `/dev/fd/${index + 3}`;
}
