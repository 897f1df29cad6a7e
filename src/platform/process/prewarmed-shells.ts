import { statSync } from 'node:fs';
import { quoted } from '../../base/quote-word.js';
import { findShell } from './find-shell.js';
import { lastProcessId } from './proc-table.js';
import type { ProcessStart, StartedProcess } from './spawn.js';
import type { ProcessAhead, SpawnServer } from './spawn-server.js';

/** Further simultaneous commands start without a prewarmed shell. */
const KEPT = 2;
/** After this time without a command, a few milliseconds for the next one do not matter. */
const IDLE_MS = 60_000;

/**
 * Small shells that were started ahead, for commands without a sandbox: each in the session, directory and environment
 * of the next command. Each waits for the name of its program, so starting one is a write and an `exec`, and each is
 * used once. They end when their input ends, and so together with this program, however that ends.
 */
export class PrewarmedShells {
  readonly #startAhead: SpawnServer['startAhead'];
  /** An empty place belongs to a shell that is being started. */
  #places: { ready?: ProcessAhead }[] = [];
  /** The directory and the environment of the shells. */
  #kind = '';
  #idle: NodeJS.Timeout | undefined;

  constructor(startAhead: SpawnServer['startAhead']) {
    this.#startAhead = startAhead;
  }

  /** The program, in a shell that waited for it; undefined if there is none. */
  take(start: ProcessStart): StartedProcess | undefined {
    const kind = kindOf(start);
    if (kind !== this.#kind) this.dropAll();
    this.#kind = kind;
    const script = scriptFor(start);
    const after = lastProcessId();
    const found = this.#places.find(({ ready }) => ready !== undefined);
    if (script === undefined || after === undefined || found === undefined) return undefined;
    this.#places = this.#places.filter((place) => place !== found);
    return found.ready?.begin(script, after);
  }

  /** Call it when a command has ended: starts shells for commands like it. */
  refill(start: ProcessStart): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (kindOf(start) !== this.#kind) return;
      while (this.#places.length < KEPT) void this.#make(start);
      this.#idle = setTimeout(() => this.dropAll(), IDLE_MS).unref();
    }, 1).unref();
  }

  dropAll(): void {
    clearTimeout(this.#idle);
    for (const { ready } of this.#places.splice(0)) void ready?.drop();
    this.#kind = '';
  }

  async #make({ cwd, env }: ProcessStart): Promise<void> {
    const place: { ready?: ProcessAhead } = {};
    this.#places.push(place);
    const file = findShell('sh') ?? 'sh';
    const mark = env.TOOLEXEC_CALL ?? '';
    const start = { file, name: 'sh', args: ['-s'], cwd, env, mark, holdsOrphans: true };
    // If it cannot be started there, the next command reports the reason.
    const shell = await this.#startAhead(start).catch(() => undefined);
    if (shell !== undefined && this.#places.includes(place)) {
      place.ready = shell;
      await shell.ended;
      // It was used or dropped.
      if (!this.#places.includes(place)) return;
    }
    this.#places = this.#places.filter((other) => other !== place);
    void shell?.drop();
  }
}

/** Another directory may have taken the name: so the directory's identity counts too. */
function kindOf({ cwd, env }: ProcessStart): string {
  const status = statSync(cwd, { throwIfNoEntry: false });
  return JSON.stringify([cwd, status?.dev, status?.ino, env]);
}

/** Characters. A pipe accepts that many bytes at once on every system; a longer script is not sent. */
const LONGEST = 32_768;

/**
 * The script that turns a shell, started in the directory and environment of `start`, into its program with
 * the inherited files. Undefined if no script can do that.
 */
function scriptFor({ file, args, mark = '', inherit, report }: ProcessStart): string | undefined {
  const words = [file, ...args];
  if (words.some((word) => word.includes('\0'))) return undefined;
  const script =
    `TOOLEXEC_CALL=${quoted(mark)}; export TOOLEXEC_CALL; ` +
    `exec 0</dev/null 3<${openFile(inherit)} 4<>${openFile(report)} ${words.map(quoted).join(' ')}\n`;
  return script.length > LONGEST ? undefined : script;
}

function openFile(fd: number | undefined): string {
  return fd === undefined ? '/dev/null' : `/proc/${process.pid}/fd/${fd}`;
}
