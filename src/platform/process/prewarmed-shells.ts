import { statSync } from 'node:fs';
import { findShell } from './find-shell.js';
import type { OpenedProcess } from './opened-process.js';
import { lastProcessId } from './proc-table.js';
import { shellScript } from './shell-script.js';
import type { ProcessStart } from './spawn.js';
import { startWaiting, type WaitingProcess, type WaitingStart } from './waiting-process.js';

export interface TakenShell {
  readonly opened: OpenedProcess;
  /** The last process number that was assigned before the program began. */
  readonly after: number;
}

/** Further simultaneous commands start without a prewarmed shell. */
const KEPT = 3;
/** Up to this number of shells, a new one is started at once. Otherwise the next command goes first. */
const FEW = 1;
/** New shells are created after this time without a command, so that they delay none. */
const QUIET_MS = 20;
/** After this time without a command, a few milliseconds for the next one do not matter. */
const IDLE_MS = 60_000;

/**
 * Small shells that were started ahead, each in the session, directory and environment of the next command.
 * Each waits for the name of its program, so starting one is a write and an `exec`. Each is used once. They
 * end when their input ends, and so together with this program, however that ends.
 */
export class PrewarmedShells {
  readonly #options: WaitingStart;
  readonly #shell = findShell('sh');
  #prewarmed: WaitingProcess[] = [];
  /** The pattern of the waiting shells. */
  #pattern: Pattern | undefined;
  #coming = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: WaitingStart) {
    this.#options = options;
  }

  /** A shell that has become the program; undefined if none of the waiting ones fits. */
  take(start: ProcessStart): TakenShell | undefined {
    if (!this.#fits(start)) return undefined;
    const script = shellScript(start);
    const after = lastProcessId();
    if (script === undefined || after === undefined) return undefined;
    const shell = this.#prewarmed.pop();
    return shell?.tell(script) === true ? { opened: shell.opened, after } : undefined;
  }

  /** Call it when a command has ended. */
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

  /** If the directory or environment has changed, the waiting shells are replaced by new ones. */
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
      // It cannot be started there. The next command reports the reason.
    }
  }

  /** It was ended from outside, or it was taken and has ended. */
  #forget(shell: WaitingProcess): void {
    if (!this.#prewarmed.includes(shell)) return;
    this.#prewarmed = this.#prewarmed.filter((other) => other !== shell);
    shell.drop();
  }
}

interface Pattern {
  readonly cwd: string;
  /** Another directory may have taken the name. */
  readonly place: string;
  readonly env: ProcessStart['env'];
  readonly text: string;
  readonly holdsOrphans: boolean;
}

/** The same object if nothing has changed; undefined if a shell cannot carry the environment. */
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

/** Whether a shell passes an environment on unchanged. */
export function shellsCarry(env: ProcessStart['env']): boolean {
  return Object.keys(env).every((name) => CARRIED.test(name) && !OWN.test(name));
}

/** Names that every shell passes on. */
const CARRIED = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Names with a special meaning to some shell, which might change their values. */
const OWN = /^(?:OPTIND|OPTARG|PPID|E?UID|LINENO|SHELLOPTS|BASHOPTS|BASH_.*|RANDOM|SECONDS|IFS|ENV)$/;
