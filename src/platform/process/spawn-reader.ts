import { spawn } from 'node:child_process';
import { Readable } from 'node:stream';

/** A helper program that reads files and starts no other program. */
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
  /** The start of its standard error. */
  readonly stderr: string;
}

export interface Reader {
  readonly stdout: Readable;
  /**
   * Resolves when the program has ended and all its output has been read. Rejects with the system's error.
   */
  readonly ended: Promise<ReaderEnd>;
  /** Ends the program at once. It leaves nothing behind. */
  kill(): void;
}

const KEPT_ERROR_BYTES = 16 * 1024;

/**
 * Starts the program without standard input and with an empty environment, so that no variable influences it.
 * @throws the system's error (with `code`) if the arguments cannot be passed.
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
  // If no pipes could be created, there is nothing to read, and the error says so.
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
 * The path by which a program opens the file that it inherited at this index (index 0 is its descriptor 3).
 */
export function descriptorPath(index: number): string {
  return `/dev/fd/${index + 3}`;
}
