import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unlinkQuietly } from '../fs/make-and-remove.js';
import { startHeld } from './hold-orphans.js';
import type { ProcessEnd, ProcessStart, StartedProcess } from './spawn.js';
import { terminate } from './spawn-helper.js';
import { type OpenedFile, SPAWN_SERVER_PROGRAM } from './spawn-server-program.js';

/** A process that waits for its order. */
export interface ProcessAhead {
  readonly pid: number;
  /** Resolves when it is gone, with or without an order. Never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /**
   * Sends its order, once. Undefined if that fails; then it is dropped.
   * @param after the last process number that was assigned before, if the order replaces its program
   */
  begin(order: string, after?: number): StartedProcess | undefined;
  /**
   * Ends its input without an order, so it exits; its process number may be another process's by now. Resolves when it
   * is gone.
   */
  drop(): Promise<void>;
}

/** Below this number of ready pipes, more are requested. */
const FEW_PIPES = 32;

/** A pipe that is open here, with a name for the process at the other end. */
interface TakenPipe {
  readonly name: string;
  readonly fd: number;
}

/** What the server says of a process that it has started. */
interface Started {
  readonly pid: number;
  readonly startTicks: number;
}

/** Such a process, without listeners so far. */
interface OpenedProcess extends Started {
  readonly stdout: Socket;
  readonly stderr: Socket;
  /** Their names in `/proc`. */
  readonly outputs: readonly string[];
  readonly ended: Promise<ProcessEnd>;
}

type Answer =
  | { readonly pipes: readonly string[] }
  | ({ readonly id: number } & Started)
  | { readonly id: number; readonly error: string }
  | { readonly id: number; readonly exitCode: number | null; readonly signal: string | null };

/** A requested process: the callbacks for its start and for its end. */
interface Asked {
  readonly started: (answer: Started) => void;
  readonly failed: (error: unknown) => void;
  readonly ended: (end: ProcessEnd) => void;
}

/** Starts processes for us, at a cost that does not depend on the size of our own process. */
export class SpawnServer {
  readonly #child: ChildProcess;
  readonly #onGone: () => void;
  readonly #asked = new Map<number, Asked>();
  #pipes: string[] = [];
  #refilling = true;
  #isReady: () => void = () => {};
  /** Resolves when it has its first pipes, or is gone. */
  readonly #ready = new Promise<void>((resolve) => {
    this.#isReady = resolve;
  });
  #holders = 0;
  #lastId = 0;
  #text = '';
  #gone = false;

  /** @param onGone called once, when it can no longer be used */
  constructor(onGone: () => void) {
    this.#onGone = onGone;
    const place = join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), `toolexec-pipes-${process.pid}-`);
    const args = ['--max-old-space-size=64', '-e', SPAWN_SERVER_PROGRAM, place];
    this.#child = spawn(process.execPath, args, {
      cwd: '/',
      env: helperEnvironment(),
      detached: true,
      windowsHide: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child.once('error', () => this.#end());
    this.#child.once('exit', () => this.#end());
    this.#child.stdin?.on('error', () => {});
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => this.#read(chunk));
    this.#unref();
  }

  /** Undefined if it cannot start anything now: it is not ready yet, or has no pipes left. */
  start(start: ProcessStart): Promise<StartedProcess> | undefined {
    if (this.#gone) return undefined;
    const opening = this.#open(startHeld(start));
    if (opening === undefined) return undefined;
    this.#hold();
    return opening.then((opened) => this.#hand(opened)).finally(() => this.#letGo());
  }

  /**
   * Starts a process that waits for its order on standard input, as soon as the server is ready. It does not
   * keep this program alive. Rejects with the system's error.
   */
  async startAhead(start: Omit<ProcessStart, 'input'>): Promise<ProcessAhead | undefined> {
    await this.#ready;
    // We also hold a reading end, so we never wait for the other process and can write before it reads.
    const pipe = this.#takePipe(constants.O_RDWR);
    if (pipe === undefined) return undefined;
    // The server opens it by our descriptor, not by its name, which may be gone by then.
    unlinkQuietly(pipe.name);
    let opened: OpenedProcess | undefined;
    try {
      opened = await this.#open(startHeld({ ...start, input: pipe.fd }));
      return opened && this.#ahead(opened, pipe.fd);
    } finally {
      if (opened === undefined) closeSync(pipe.fd);
    }
  }

  #ahead(opened: OpenedProcess, order: number): ProcessAhead {
    let isOpen = true;
    const send = (text: string): boolean => {
      const isSent = isOpen && isWritten(order, text);
      if (isOpen) closeSync(order);
      isOpen = false;
      return isSent;
    };
    const drop = async (): Promise<void> => {
      send('');
      closeOutputs(opened);
      this.#hold();
      await opened.ended.finally(() => this.#letGo());
    };
    return {
      pid: opened.pid,
      ended: opened.ended,
      begin: (text, after) => {
        if (send(text)) return this.#hand(opened, after);
        void drop();
        return undefined;
      },
      drop,
    };
  }

  /** Whether no caller waits for an answer. */
  isIdle(): boolean {
    return this.#holders === 0;
  }

  /** Call it when it is idle. Resolves when it is gone. */
  end(): Promise<void> {
    return terminate(this.#child);
  }

  #open(start: ProcessStart): Promise<OpenedProcess> | undefined {
    const stdout = this.#takePipe(constants.O_RDONLY);
    const stderr = stdout && this.#takePipe(constants.O_RDONLY);
    if (stdout !== undefined && stderr !== undefined) return this.#start(start, [stdout, stderr]);
    if (stdout !== undefined) closeSync(stdout.fd);
    return undefined;
  }

  async #start(start: ProcessStart, pipes: readonly [TakenPipe, TakenPipe]): Promise<OpenedProcess> {
    const { file, name, args, cwd, env, mark = '' } = start;
    const id = ++this.#lastId;
    let end: Asked['ended'] = () => {};
    const ended = new Promise<ProcessEnd>((resolve) => {
      end = resolve;
    });
    const started = new Promise<Started>((resolve, reject) => {
      this.#asked.set(id, { started: resolve, failed: reject, ended: end });
    });
    const [stdout, stderr] = pipes;
    const stdio: readonly (OpenedFile | null)[] = [
      ofOurs(start.input, 'read'),
      { name: stdout.name, how: 'pipe' },
      { name: stderr.name, how: 'pipe' },
      ofOurs(start.inherit, 'read'),
      ofOurs(start.report, 'write'),
      ...(start.places ?? []).map((place) => ofOurs(place, 'place')),
      ...(start.files ?? []).map((open) => ofOurs(open, 'read')),
    ];
    this.#say({ id, file, name, args, cwd, env: { ...env, TOOLEXEC_CALL: mark }, stdio });
    try {
      const { pid, startTicks } = await started;
      // By then their names are removed.
      const outputs = pipes.map(({ name: pipe }) => `${pipe} (deleted)`);
      return { pid, startTicks, stdout: readerOf(stdout), stderr: readerOf(stderr), outputs, ended };
    } catch (error) {
      for (const { fd } of pipes) closeSync(fd);
      throw error;
    } finally {
      for (const { name: pipe } of pipes) unlinkQuietly(pipe);
    }
  }

  /** Hands the process over to its caller. From then on it keeps this program alive. */
  #hand(opened: OpenedProcess, after = opened.pid): StartedProcess {
    const { pid, startTicks, outputs, stdout, stderr, ended } = opened;
    this.#hold();
    stdout.ref();
    stderr.ref();
    let holds = true;
    const letGo = (): void => {
      if (holds) this.#letGo();
      holds = false;
    };
    void ended.then(letGo);
    return {
      pid,
      stdout,
      stderr,
      ended,
      seen: { startTicks, after, outputs },
      unref() {
        stdout.unref();
        stderr.unref();
        letGo();
      },
      release() {
        closeOutputs(opened);
        letGo();
      },
    };
  }

  /** Opened without waiting for the process at the other end. */
  #takePipe(flags: number): TakenPipe | undefined {
    const name = this.#gone ? undefined : this.#pipes.pop();
    if (name === undefined) {
      this.#refill();
      return undefined;
    }
    try {
      return { name, fd: openSync(name, flags | constants.O_NONBLOCK) };
    } catch {
      // Another program has removed the directory and with it all pipes, or there are no descriptors left.
      this.#pipes = [];
      return undefined;
    } finally {
      this.#refill();
    }
  }

  #say(message: unknown): void {
    if (this.#child.stdin?.writable === true) this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #read(chunk: string): void {
    const lines = (this.#text + chunk).split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) this.#take(JSON.parse(line));
  }

  #take(answer: Answer): void {
    if ('pipes' in answer) {
      this.#pipes.push(...answer.pipes);
      this.#refilling = false;
      this.#isReady();
      return;
    }
    const asked = this.#asked.get(answer.id);
    if ('pid' in answer) {
      asked?.started(answer);
      return;
    }
    this.#asked.delete(answer.id);
    if ('error' in answer) asked?.failed(systemError(answer.error));
    else asked?.ended({ exitCode: answer.exitCode, signal: answer.signal });
  }

  #refill(): void {
    if (this.#refilling || this.#pipes.length > FEW_PIPES) return;
    this.#refilling = true;
    this.#say({ pipes: 64 });
  }

  #end(): void {
    if (this.#gone) return;
    this.#gone = true;
    const [pipe] = this.#pipes;
    if (pipe !== undefined) rmSync(dirname(pipe), { recursive: true, force: true });
    this.#pipes = [];
    for (const { failed, ended } of this.#asked.values()) {
      failed(systemError('EAGAIN'));
      // Its exit code is never reported here; the caller that started it supervises it.
      ended({ exitCode: null, signal: null });
    }
    this.#asked.clear();
    this.#isReady();
    this.#onGone();
  }

  /** This program stays alive while a caller waits for an answer. */
  #hold(): void {
    if (this.#holders++ > 0) return;
    this.#child.ref();
    for (const stream of this.#streams()) stream.ref();
  }

  #letGo(): void {
    if (--this.#holders === 0) this.#unref();
  }

  #unref(): void {
    this.#child.unref();
    for (const stream of this.#streams()) stream.unref();
  }

  #streams(): Socket[] {
    return [this.#child.stdin, this.#child.stdout].filter((stream) => stream instanceof Socket);
  }
}

/** Without variables that would change its start. If this program is part of a command, the server is too. */
function helperEnvironment(): NodeJS.ProcessEnv {
  const { PATH, TOOLEXEC_CALL } = process.env;
  return { PATH, ...(TOOLEXEC_CALL === undefined ? {} : { TOOLEXEC_CALL }) };
}

function readerOf({ fd }: TakenPipe): Socket {
  return new Socket({ fd, readable: true, writable: false }).unref();
}

function closeOutputs({ stdout, stderr }: OpenedProcess): void {
  stdout.destroy();
  stderr.destroy();
}

/** False if the pipe is full. An order never fills it, so another process has it. */
function isWritten(pipe: number, text: string): boolean {
  const bytes = Buffer.from(text, 'utf8');
  try {
    return writeSync(pipe, bytes) === bytes.length;
  } catch {
    return false;
  }
}

/** A file of ours, under the name by which the server opens it. */
function ofOurs(fd: number | 'pipe' | undefined, how: OpenedFile['how']): OpenedFile | null {
  return fd === undefined || fd === 'pipe' ? null : { name: `/proc/${process.pid}/fd/${fd}`, how };
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
