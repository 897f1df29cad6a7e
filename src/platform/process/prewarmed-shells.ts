import { closeSync, statSync, writeSync } from 'node:fs';
import { unlinkQuietly } from '../fs/make-and-remove.js';
import { findShell } from './find-shell.js';
import type { OpenedProcess } from './opened-process.js';
import { lastProcessId } from './proc-table.js';
import { shellScript } from './shell-script.js';
import type { ProcessStart } from './spawn.js';

export interface PrewarmOptions {
  /** How a process is started. */
  readonly open: (start: ProcessStart) => Promise<OpenedProcess> | undefined;
  /** A pipe that no other uses, open for both, without waiting. */
  readonly takePipe: () => TakenPipe | undefined;
  /** Called with one that will not be used. */
  readonly drop: (opened: OpenedProcess) => void;
}

/** A pipe that is open here, and has a name for who has the other end. */
export interface TakenPipe {
  readonly name: string;
  readonly fd: number;
}

export interface TakenShell {
  readonly opened: OpenedProcess;
  /** The last number that was given to any process before the program began. */
  readonly after: number;
}

interface PrewarmedShell {
  readonly opened: OpenedProcess;
  /** Where it is told what it shall become. */
  readonly order: number;
}

/** More at once are started as they come. */
const KEPT = 3;
/** Fewer are not waited with: the next command comes first, unless it would find none. */
const FEW = 1;
/** Without a command for so long, no command is kept waiting by making new ones. */
const QUIET_MS = 20;
/** A program that has started nothing for so long can wait a few milliseconds the next time. */
const IDLE_MS = 60_000;

/**
 * Small shells that were started ahead, each in the session, directory and environment of the next command, and wait to
 * be told which program they shall become. Starting one is then a word and an `exec`. Each is used once. They read the
 * end of their orders, and go, when this program ends, however that happens.
 */
export class PrewarmedShells {
  readonly #options: PrewarmOptions;
  readonly #shell = findShell('sh');
  #prewarmed: PrewarmedShell[] = [];
  /** What those that wait were made for. */
  #pattern: Pattern | undefined;
  #coming = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: PrewarmOptions) {
    this.#options = options;
  }

  /** One that has become the program; undefined where none waits that could. */
  take(start: ProcessStart): TakenShell | undefined {
    if (!this.#fits(start)) return undefined;
    const script = shellScript(start);
    const after = lastProcessId();
    if (script === undefined || after === undefined) return undefined;
    const shell = this.#prewarmed.pop();
    if (shell === undefined) return undefined;
    if (tell(shell.order, script)) return { opened: shell.opened, after };
    this.#drop(shell);
    return undefined;
  }

  /** To be called when a command has ended. */
  refill(): void {
    if (this.#pattern === undefined) return;
    clearTimeout(this.#idle);
    const pauseMs = this.#prewarmed.length + this.#coming > FEW ? QUIET_MS : 1;
    this.#idle = setTimeout(() => {
      this.#makeAll();
      this.#idle = setTimeout(() => this.dropAll(), IDLE_MS).unref();
    }, pauseMs).unref();
  }

  #makeAll(): void {
    const pattern = this.#pattern;
    while (pattern !== undefined && this.#prewarmed.length + this.#coming < KEPT && this.#make(pattern));
  }

  dropAll(): void {
    clearTimeout(this.#idle);
    for (const shell of this.#prewarmed) this.#drop(shell);
    this.#prewarmed = [];
    this.#pattern = undefined;
  }

  /** Those that are made for another directory or environment are of no use: new ones are made for this. */
  #fits(start: ProcessStart): boolean {
    const pattern = patternOf(start, this.#pattern);
    if (pattern !== undefined && pattern === this.#pattern) return true;
    this.dropAll();
    this.#pattern = pattern;
    return false;
  }

  #make(pattern: Pattern): boolean {
    const file = this.#shell;
    // As a reader of our own orders we never wait for the other one, and can write before it listens.
    const pipe = file === undefined ? undefined : this.#options.takePipe();
    if (file === undefined || pipe === undefined) return false;
    const { fd: order, name } = pipe;
    // The server opens them by our descriptor. It does not open them again, which might be too late.
    unlinkQuietly(name);
    const { cwd, env, holdsOrphans } = pattern;
    const mark = env.TOOLEXEC_CALL ?? '';
    const start = { file, name: 'sh', args: ['-s'], cwd, env, mark, input: order, holdsOrphans };
    const opening = this.#options.open(start);
    if (opening === undefined) closeSync(order);
    else {
      this.#coming++;
      void this.#keep(pattern, order, opening).finally(() => {
        this.#coming--;
      });
    }
    return opening !== undefined;
  }

  async #keep(pattern: Pattern, order: number, opening: Promise<OpenedProcess>): Promise<void> {
    try {
      const shell = { opened: await opening, order };
      if (this.#pattern !== pattern) return this.#drop(shell);
      this.#prewarmed.push(shell);
      void shell.opened.ended.then(() => this.#forget(shell));
    } catch {
      // It cannot be started there: the command that wants to will say why.
      closeSync(order);
    }
  }

  /** It was ended from outside, or it was taken and has come to its end. */
  #forget(shell: PrewarmedShell): void {
    if (!this.#prewarmed.includes(shell)) return;
    this.#prewarmed = this.#prewarmed.filter((other) => other !== shell);
    this.#drop(shell);
  }

  /** It reads the end of its orders, and goes: its number is never needed, which may be another process.s by now. */
  #drop({ opened, order }: PrewarmedShell): void {
    closeSync(order);
    this.#options.drop(opened);
  }
}

interface Pattern {
  readonly cwd: string;
  /** Another directory may have got the name. */
  readonly place: string;
  readonly env: ProcessStart['env'];
  readonly text: string;
  readonly holdsOrphans: boolean;
}

/** The same object where nothing has changed; undefined where a shell could not carry the environment. */
function patternOf(
  { cwd, env, holdsOrphans = false }: ProcessStart,
  last: Pattern | undefined,
): Pattern | undefined {
  const status = statSync(cwd, { throwIfNoEntry: false });
  if (status === undefined) return undefined;
  const place = `${status.dev}:${status.ino}`;
  const isSamePlace = last?.cwd === cwd && last.place === place && last.holdsOrphans === holdsOrphans;
  if (isSamePlace && last.env === env) return last;
  const text = JSON.stringify(env);
  if (isSamePlace && last.text === text) return last;
  return shellsCarry(env) ? { cwd, place, env, text, holdsOrphans } : undefined;
}

/** Whether a shell hands an environment on as it is. */
export function shellsCarry(env: ProcessStart['env']): boolean {
  return Object.keys(env).every((name) => CARRIED.test(name) && !OWN.test(name));
}

/** Names that every shell hands on. */
const CARRIED = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Names that mean something to one or another of them, and might not come through as they were. */
const OWN = /^(?:OPTIND|OPTARG|PPID|E?UID|LINENO|SHELLOPTS|BASHOPTS|BASH_.*|RANDOM|SECONDS|IFS|ENV)$/;

function tell(order: number, script: string): boolean {
  const bytes = Buffer.from(script, 'utf8');
  try {
    if (writeSync(order, bytes) !== bytes.length) return false;
  } catch {
    return false;
  }
  closeSync(order);
  return true;
}
