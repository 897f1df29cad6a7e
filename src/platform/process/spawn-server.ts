import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unlinkQuietly } from '../fs/make-and-remove.js';
import { startHeld } from './hold-orphans.js';
import { handOver, type OpenedProcess } from './opened-process.js';
import { PrewarmedShells } from './prewarmed-shells.js';
import type { ProcessEnd, ProcessStart, StartedProcess } from './spawn.js';
import { terminate } from './spawn-helper.js';
import { SPAWN_SERVER_PROGRAM } from './spawn-server-program.js';
import { startWaiting, type TakenPipe, type WaitingStart } from './waiting-process.js';

/** Starts processes for us, at a cost that does not depend on the size of our own process. */
export interface SpawnServer {
  /** Undefined if it cannot start anything now: it is not ready yet, or has no pipes left. */
  start(start: ProcessStart): Promise<StartedProcess> | undefined;
  /**
   * Starts a process that waits for its order on standard input, as soon as the server is ready. It does not
   * keep this program alive. Rejects with the system's error.
   */
  startAhead(start: Omit<ProcessStart, 'input'>): Promise<ProcessAhead | undefined>;
  /** Whether no caller waits for an answer. */
  isIdle(): boolean;
  /** Call it when it is idle. Resolves when it is gone. */
  end(): Promise<void>;
}

/** A process that waits for its order. */
export interface ProcessAhead {
  readonly pid: number;
  /** Resolves when it is gone, with or without an order. Never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** Sends its order, once. Undefined if that fails; then it is dropped. */
  begin(order: string): StartedProcess | undefined;
  /** Resolves when it is gone. */
  drop(): Promise<void>;
}

/** @param onGone called once, when it can no longer be used */
export function openSpawnServer(onGone: () => void): SpawnServer {
  return new NodeSpawnServer(onGone);
}

/** Below this number of ready pipes, more are requested. */
const FEW_PIPES = 32;

type Started = Pick<OpenedProcess, 'pid' | 'startTicks'>;

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

class NodeSpawnServer implements SpawnServer {
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
  #lastEnvironment: ProcessStart['env'] | undefined;
  #lastText = '';
  readonly #waiting: WaitingStart = {
    open: (start) => this.#open(startHeld(start)),
    takePipe: () => this.#takePipe(constants.O_RDWR),
  };
  readonly #prewarmed = new PrewarmedShells(this.#waiting);
  #gone = false;

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

  start(start: ProcessStart): Promise<StartedProcess> | undefined {
    if (this.#gone) return undefined;
    // A prewarmed shell reads its order from its standard input, and opens the program's input later.
    const isLate = start.input === undefined || start.keepsInput === true;
    const shell = isLate ? this.#prewarmed.take(start) : undefined;
    if (shell !== undefined) return Promise.resolve(this.#hand(shell.opened, shell.after));
    const opening = this.#open(startHeld(start));
    if (opening === undefined) return undefined;
    this.#hold();
    return opening.then((opened) => this.#hand(opened)).finally(() => this.#letGo());
  }

  async startAhead(start: Omit<ProcessStart, 'input'>): Promise<ProcessAhead | undefined> {
    await this.#ready;
    const waiting = await startWaiting(this.#waiting, start);
    if (waiting === undefined) return undefined;
    const { opened, tell, drop } = waiting;
    return {
      pid: opened.pid,
      ended: opened.ended,
      begin: (order) => (tell(order) ? this.#hand(opened) : undefined),
      drop: async () => {
        drop();
        this.#hold();
        await opened.ended.finally(() => this.#letGo());
      },
    };
  }

  isIdle(): boolean {
    return this.#holders === 0;
  }

  end(): Promise<void> {
    this.#prewarmed.dropAll();
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
    const { file, name, args, cwd } = start;
    const id = ++this.#lastId;
    let end: Asked['ended'] = () => {};
    const ended = new Promise<ProcessEnd>((resolve) => {
      end = resolve;
    });
    const started = new Promise<Started>((resolve, reject) => {
      this.#asked.set(id, { started: resolve, failed: reject, ended: end });
    });
    const input = nameOfOpen(start.input);
    const inherit = nameOfOpen(start.inherit);
    const report = nameOfOpen(start.report);
    const places = start.places?.map(nameOfOpen);
    const files = start.files?.map(nameOfOpen);
    const [stdout, stderr] = pipes;
    const streamsOf = { input, stdout: stdout.name, stderr: stderr.name, inherit, report, places, files };
    this.#say({ id, file, name, args, cwd, ...this.#environment(start), ...streamsOf });
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

  #hand(opened: OpenedProcess, after = opened.pid): StartedProcess {
    this.#hold();
    void opened.ended.then(() => this.#prewarmed.refill());
    return handOver(opened, { after, letGo: () => this.#letGo() });
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

  /** Most commands have the same environment, so it is sent only when it has changed. */
  #environment({ mark = '', env }: ProcessStart): object {
    if (env === this.#lastEnvironment) return { mark };
    const text = JSON.stringify(env);
    const isSame = text === this.#lastText;
    this.#lastEnvironment = env;
    this.#lastText = text;
    return isSame ? { mark } : { mark, env };
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
    this.#prewarmed.dropAll();
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

/** The name by which the server opens a file of ours. */
function nameOfOpen(fd: number | 'pipe' | undefined): string | null {
  return fd === undefined || fd === 'pipe' ? null : `/proc/${process.pid}/fd/${fd}`;
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
