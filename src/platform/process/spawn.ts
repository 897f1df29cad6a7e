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
  /** The program's own name, `argv[0]`. */
  readonly name: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /**
   * The value of `TOOLEXEC_CALL`, regardless of `env`: apart from it, most commands have the same
   * environment.
   */
  readonly mark?: string;
  /** An open file as standard input, or `pipe` for input that we write while it runs. If absent: none. */
  readonly input?: number | 'pipe';
  /** It becomes the parent of every orphan below it, if the machine supports that. */
  readonly holdsOrphans?: boolean;
  /** An open file that the program and its descendants inherit as descriptor 3. */
  readonly inherit?: number;
  /** The same as descriptor 4, for writing. */
  readonly report?: number;
  /** Held places (`holdPlace`) that the program inherits as descriptors 5, 6 and so on. */
  readonly places?: readonly number[];
  /** Open files for it to read from the beginning; their descriptors follow those of the places. */
  readonly files?: readonly number[];
  /**
   * It gets the standard streams of this program, so its input is ours and its output cannot be read.
   * `error`: its standard output is our standard error.
   */
  readonly attached?: 'output' | 'error';
}

export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface SeenProcess {
  /** As in `ProcessEntry`; for the process, which may have waited for its program. */
  readonly startTicks: number;
  /** The last process number that was assigned before the program began. If absent: its own. */
  readonly after?: number;
  /** The names of its output pipes. */
  readonly outputs: readonly string[];
}

export interface StartedProcess {
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Present if its input is a pipe. */
  readonly stdin?: Writable;
  /** The facts from the start of the program, for a process that may be gone by now. */
  readonly seen?: SeenProcess;
  /** Resolves when the process itself is gone, even if others still hold its pipes. Never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** From now on it does not keep this program alive. */
  unref(): void;
  /** Closes our side of everything. A process that cannot be killed then no longer keeps us alive. */
  release(): void;
}

/**
 * Starts a program in a new session and process group.
 * @throws the system's error (with `code`) if it cannot be started
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
  // Dead or alive, the process still exists until it is waited for.
  const startTicks = readProcess(child.pid)?.startTicks ?? 0;
  const seen = { startTicks, outputs: pipes.map(({ name }) => name) };
  return { ...startedProcess(child, child.pid, ...streams), seen };
}

function socketOf({ reader }: OpenPipe): Socket {
  return new Socket({ fd: reader, readable: true, writable: false });
}

/** The same for a program that does not open its output by name; this saves one process. */
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

/** Whether this program can open named pipes and read them as streams. */
export function readsNamedPipes(): boolean {
  // Node treats a worker's open files as its own: when the worker ends, it closes their numbers again,
  // whatever file has the number then.
  if (process.platform !== 'linux' || !isMainThread) return false;
  // Bun and Deno read nothing from a `Socket` of an open file, and report no error.
  return process.versions.bun === undefined && process.versions.deno === undefined;
}

/** A pipe whose reading end is ours. */
interface OpenPipe {
  readonly reader: number;
  /** The end for another process; close it here once that process has it. */
  readonly writer: number;
  /** Its name in `/proc`. */
  readonly name: string;
}

/**
 * Two real pipes. Node creates sockets, which a command cannot open as `/dev/stderr`. Undefined if the system
 * creates none.
 */
async function openPipes(): Promise<readonly [OpenPipe, OpenPipe] | undefined> {
  if (!readsNamedPipes()) return undefined;
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
  // The reader is opened first and does not wait for a writer.
  const reader = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { reader, writer: openSync(name, constants.O_WRONLY), name: `${name} (deleted)` };
  } catch (error) {
    closeSync(reader);
    throw error;
  }
}
