import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { isMainThread } from 'node:worker_threads';
import { withoutInherited } from './inherited-descriptors.js';
import { readProcess } from './proc-table.js';

export interface ProcessStart {
  readonly file: string;
  /** What the program is told that it is called. */
  readonly name: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Stands in `TOOLEXEC_CALL`, whatever `env` says of it: the rest is the same for most. */
  readonly mark?: string;
  /** An open file that is its standard input, or `pipe`: we write to it while it runs. Left out: it has none. */
  readonly input?: number | 'pipe';
  /** `input` stays open until the program has ended: it may be opened late. */
  readonly keepsInput?: boolean;
  /** It becomes the parent of every orphan below it, where the machine can do that. */
  readonly holdsOrphans?: boolean;
  /** An open file that the program and its descendants inherit, as descriptor 3. */
  readonly inherit?: number;
  /** The same as descriptor 4, for writing. */
  readonly report?: number;
  /** Places held open (`holdPlace`) that the program inherits as descriptors 5, 6 and so on. */
  readonly places?: readonly number[];
  /** Open files that it may read, at their beginning; their descriptors come after those. */
  readonly files?: readonly number[];
  /**
   * It has the standard streams of this program, so that its input is ours, and nothing can be read of its output. `error`: its
   * standard output is our standard error.
   */
  readonly attached?: 'output' | 'error';
}

export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface SeenProcess {
  /** As in `ProcessEntry`; of the process, which may have waited for its program. */
  readonly startTicks: number;
  /** The last number that was given to any process before the program began; left out: its own. */
  readonly after?: number;
  /** The names of its output pipes. */
  readonly outputs: readonly string[];
}

export interface StartedProcess {
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Where its input is a pipe. */
  readonly stdin?: Writable;
  /** Where it may be gone by now: what was known of it when the program began. */
  readonly seen?: SeenProcess;
  /** Resolves when the process itself is gone, whichever process still holds its pipes. Never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** From now on it does not keep this program alive. */
  unref(): void;
  /** Closes our side of everything; a process that cannot be killed no longer keeps us alive. */
  release(): void;
}

/**
 * Starts a program in a session and process group of its own.
 * @throws the system's error (with `code`) when it cannot be started.
 */
export async function spawnProcess(start: ProcessStart): Promise<StartedProcess> {
  if (start.attached !== undefined) return spawnAttached(start, start.attached);
  const pipes = await openPipes();
  return pipes === undefined ? spawnWithSockets(start) : spawnWithPipes(start, pipes);
}

async function spawnAttached(start: ProcessStart, output: 'output' | 'error'): Promise<StartedProcess> {
  const child = spawnChild({ ...start, input: 0 }, output === 'error' ? [2, 2] : [1, 2]);
  if (child.pid === undefined) throw await spawnError(child);
  const startTicks = readProcess(child.pid)?.startTicks ?? 0;
  const started = startedProcess(child, child.pid, Readable.from([]), Readable.from([]));
  return { ...started, seen: { startTicks, outputs: [] } };
}

async function spawnWithPipes(
  start: ProcessStart,
  pipes: readonly [OpenPipe, OpenPipe],
): Promise<StartedProcess> {
  const [stdout, stderr] = pipes;
  const closeReaders = (): void => {
    for (const { reader } of pipes) closeSync(reader);
  };
  let child: ChildProcess;
  try {
    child = spawnChild(start, [stdout.writer, stderr.writer]);
  } catch (error) {
    closeReaders();
    throw error;
  } finally {
    for (const { writer } of pipes) closeSync(writer);
  }
  if (child.pid === undefined) {
    closeReaders();
    throw await spawnError(child);
  }
  const streams = [socketOf(stdout), socketOf(stderr)] as const;
  // Dead or alive, it is not waited for yet.
  const startTicks = readProcess(child.pid)?.startTicks ?? 0;
  const seen = { startTicks, outputs: pipes.map(({ name }) => name) };
  return { ...startedProcess(child, child.pid, ...streams), seen };
}

function socketOf({ reader }: OpenPipe): Socket {
  return new Socket({ fd: reader, readable: true, writable: false });
}

/** The same for a program that opens its output under no name: one process less. */
export async function spawnWithSockets(start: ProcessStart): Promise<StartedProcess> {
  const child = spawnChild(start, ['pipe', 'pipe']);
  const { pid, stdout, stderr } = child;
  if (pid === undefined || stdout === null || stderr === null) throw await spawnError(child);
  return startedProcess(child, pid, stdout, stderr);
}

function spawnChild(start: ProcessStart, outputs: readonly [number | 'pipe', number | 'pipe']): ChildProcess {
  return spawn(start.file, start.args, {
    argv0: start.name,
    cwd: start.cwd,
    env: start.mark === undefined ? start.env : { ...start.env, TOOLEXEC_CALL: start.mark },
    detached: true,
    windowsHide: true,
    stdio: withoutInherited([
      start.input ?? 'ignore',
      ...outputs,
      start.inherit ?? 'ignore',
      start.report ?? 'ignore',
      ...(start.places ?? []),
      ...(start.files ?? []),
    ]),
  });
}

function startedProcess(
  child: ChildProcess,
  pid: number,
  stdout: Readable,
  stderr: Readable,
): StartedProcess {
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const { stdin } = child;
  return {
    pid,
    stdout,
    stderr,
    ...(stdin === null ? {} : { stdin }),
    ended,
    unref() {
      for (const stream of [stdin, stdout, stderr]) if (stream instanceof Socket) stream.unref();
      child.unref();
    },
    release() {
      stdin?.destroy();
      stdout.destroy();
      stderr.destroy();
      child.unref();
    },
  };
}

async function spawnError(child: ChildProcess): Promise<unknown> {
  const [error] = await once(child, 'error').catch((thrown: unknown) => [thrown]);
  return error;
}

/** A pipe of which we read one end. */
interface OpenPipe {
  readonly reader: number;
  /** For another process; to be closed here once it has it. */
  readonly writer: number;
  /** What `/proc` shows for it. */
  readonly name: string;
}

/**
 * Two real pipes: what Node makes are sockets, which a command cannot open by the name `/dev/stderr`. Undefined where
 * the system makes none for us.
 */
async function openPipes(): Promise<readonly [OpenPipe, OpenPipe] | undefined> {
  // Node takes what a worker has opened for its own, and closes the number again at the worker's end, whatever has that number then.
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
