import { statSync } from 'node:fs';
import { findShell } from './find-shell.js';
import type { OpenedProcess } from './opened-process.js';
import { lastProcessId } from './proc-table.js';
import { shellScript } from './shell-script.js';
import type { ProcessStart } from './spawn.js';
import { startWaiting, type WaitingProcess, type WaitingStart } from './waiting-process.js';

export interface TakenShell {
  readonly opened: OpenedProcess;
  /** The last number that was given to any process before the program began. */
  readonly after: number;
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
  readonly #options: WaitingStart;
  readonly #shell = findShell('sh');
  #prewarmed: WaitingProcess[] = [];
  /** What those that wait were made for. */
  #pattern: Pattern | undefined;
  #coming = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: WaitingStart) {
    this.#options = options;
  }

  /** One that has become the program; undefined where none waits that could. */
  take(start: ProcessStart): TakenShell | undefined {
    if (!this.#fits(start)) return undefined;
    const script = shellScript(start);
    const after = lastProcessId();
    if (script === undefined || after === undefined) return undefined;
    const shell = this.#prewarmed.pop();
    return shell?.tell(script) === true ? { opened: shell.opened, after } : undefined;
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
    for (const shell of this.#prewarmed) shell.drop();
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
    if (file === undefined) return false;
    const { cwd, env, holdsOrphans } = pattern;
    const mark = env.TOOLEXEC_CALL ?? '';
    const start = { file, name: 'sh', args: ['-s'], cwd, env, mark, holdsOrphans };
    const starting = startWaiting(this.#options, start);
    if (starting === undefined) return false;
    this.#coming++;
    void this.#keep(pattern, starting).finally(() => {
      this.#coming--;
    });
    return true;
  }

  async #keep(pattern: Pattern, starting: Promise<WaitingProcess>): Promise<void> {
    try {
      const shell = await starting;
      if (this.#pattern !== pattern) return shell.drop();
      this.#prewarmed.push(shell);
      void shell.opened.ended.then(() => this.#forget(shell));
    } catch {
      // It cannot be started there: the command that wants to will say why.
    }
  }

  /** It was ended from outside, or it was taken and has come to its end. */
  #forget(shell: WaitingProcess): void {
    if (!this.#prewarmed.includes(shell)) return;
    this.#prewarmed = this.#prewarmed.filter((other) => other !== shell);
    shell.drop();
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
