import { randomBytes } from 'node:crypto';
import type {
  CommandSandbox,
  ShellReading,
  ShellRequest,
  ShellSnapshot,
  ShellStatus,
} from '../contract/processes.js';
import { ToolError } from '../errors/tool-error.js';
import { idleClock, systemClock } from '../platform/clock/clock.js';
import { explainEnd } from './explain-end.js';
import { type CommandEnding, launchCommand } from './launch-command.js';
import { ShellLog, toText } from './shell-log.js';

/** The default number of bytes kept of each stream. */
const KEPT_BYTES = 10 * 1024 * 1024;

/**
 * A command in the background (B041–B044). Its final status never changes: `completed` (exit code 0),
 * `failed`, `timeout` (its own or that of `wait`), `killed`.
 */
export class ShellProcess {
  /** `shell_` and 16 hexadecimal digits. */
  readonly id = `shell_${randomBytes(8).toString('hex')}`;
  readonly command: string;
  readonly cwd: string;
  /** In milliseconds since the epoch. */
  readonly startedAt = systemClock.now();
  readonly #request: ShellRequest;
  readonly #stdout: ShellLog;
  readonly #stderr: ShellLog;
  readonly #startTime = systemClock.monotonic();
  readonly #abort = new AbortController();
  #endTime: number | undefined;
  #status: ShellStatus = 'pending';
  #endedBy: 'timeout' | 'killed' = 'killed';
  #ending: CommandEnding | undefined;
  #ended: Promise<void> = Promise.resolve();
  #sandbox: CommandSandbox | undefined;
  #told: ReturnType<typeof explainEnd> = {};

  constructor(request: ShellRequest, keepBytes = KEPT_BYTES) {
    this.command = request.command;
    this.cwd = request.cwd;
    this.#request = request;
    this.#stdout = new ShellLog(keepBytes);
    this.#stderr = new ShellLog(keepBytes);
  }

  /** Call it once. @throws ToolError `spawn_failed`; then its status is `failed`. */
  async start(): Promise<void> {
    const { timeoutMs } = this.#request;
    const launched = launchCommand({
      ...this.#request,
      signal: this.#abort.signal,
      stdout: this.#stdout,
      stderr: this.#stderr,
      inBackground: true,
    }).then((command) => {
      this.#status = 'running';
      this.#sandbox = command.sandbox;
      return command;
    });
    const forget =
      timeoutMs === undefined
        ? undefined
        : idleClock.after(Math.min(timeoutMs, LONGEST_TIMER), () => this.#stop('timeout'));
    this.#ended = launched
      .then(({ ended }) => ended)
      .then(
        (ending) => this.#end(ending),
        () => this.#end(NEVER_STARTED),
      )
      .finally(forget);
    await launched;
  }

  get status(): ShellStatus {
    return this.#status;
  }

  get isRunning(): boolean {
    return this.#status === 'running' || this.#status === 'pending';
  }

  get exitCode(): number | null {
    return this.#ending?.exitCode ?? null;
  }

  /** In milliseconds; constant after the end. */
  get durationMs(): number {
    return (this.#endTime ?? systemClock.monotonic()) - this.#startTime;
  }

  /** Milliseconds since its end; 0 while it runs. */
  get endedForMs(): number {
    return this.#endTime === undefined ? 0 : systemClock.monotonic() - this.#endTime;
  }

  /** The kept part of standard output. */
  get stdoutBuffer(): string {
    return toText(this.#stdout.bytes()).text;
  }

  get stderrBuffer(): string {
    return toText(this.#stderr.bytes()).text;
  }

  /** Whether older output was dropped. */
  get stdoutTruncated(): boolean {
    return this.#stdout.truncated;
  }

  get stderrTruncated(): boolean {
    return this.#stderr.truncated;
  }

  /** The read position, in bytes from the start. */
  get lastReadStdout(): number {
    return this.#stdout.readTo;
  }

  get lastReadStderr(): number {
    return this.#stderr.readTo;
  }

  snapshot(): ShellSnapshot {
    const { id, command, cwd, status, isRunning, exitCode, durationMs } = this;
    const { signal = null, survivors = [] } = this.#ending ?? {};
    const told = { ...(this.#sandbox === undefined ? {} : { sandbox: this.#sandbox }), ...this.#told };
    return { id, command, cwd, status, isRunning, exitCode, signal, durationMs, survivors, ...told };
  }

  /** The new output of both streams; with `wholeLines` only complete lines while it runs. */
  read({ wholeLines }: { readonly wholeLines: boolean }): ShellReading {
    const take = (log: ShellLog): ShellReading['stdout'] => {
      const { bytes, droppedBytes } = log.take({ ended: !this.isRunning, wholeLines });
      return { ...toText(bytes), droppedBytes };
    };
    return { shell: this.snapshot(), stdout: take(this.#stdout), stderr: take(this.#stderr) };
  }

  /**
   * The new output, standard error after a line `[stderr]`. Without `includeStderr`, standard error is kept
   * for later.
   */
  getNewOutput({ includeStderr = true }: { readonly includeStderr?: boolean } = {}): string {
    const ended = !this.isRunning;
    const stdout = toText(this.#stdout.take({ ended, wholeLines: false }).bytes).text;
    if (!includeStderr) return stdout;
    const stderr = toText(this.#stderr.take({ ended, wholeLines: false }).bytes).text;
    if (stderr === '') return stdout;
    return stdout === '' ? `[stderr]\n${stderr}` : `${stdout}\n\n[stderr]\n${stderr}`;
  }

  /**
   * Resolves when it has ended. After `timeoutMs` it is ended with status `timeout`.
   * @throws ToolError `config_invalid` for an invalid time; the shell continues.
   */
  async wait(timeoutMs?: number): Promise<ShellStatus> {
    if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs >= 0)) {
      const given = String(timeoutMs);
      throw new ToolError(
        'config_invalid',
        `timeoutMs must be a number of milliseconds from 0, not ${given}.`,
      );
    }
    // The timer also keeps the program alive, unlike a background shell.
    const late = (): void => (timeoutMs === undefined ? undefined : this.#stop('timeout'));
    const stop = systemClock.after(Math.min(timeoutMs ?? LONGEST_TIMER, LONGEST_TIMER), late);
    await this.#ended.finally(stop);
    return this.#status;
  }

  /** Ends it and everything it started, and resolves when that is done, with whether it was running. */
  async kill(): Promise<boolean> {
    const wasRunning = this.isRunning;
    if (wasRunning) this.#stop('killed');
    await this.#ended;
    return wasRunning;
  }

  #stop(why: 'timeout' | 'killed'): void {
    if (this.#abort.signal.aborted) return;
    this.#endedBy = why;
    this.#abort.abort();
  }

  #end(ending: CommandEnding): void {
    this.#endTime = systemClock.monotonic();
    this.#ending = ending;
    const sandbox = this.#sandbox === undefined ? {} : { sandbox: this.#sandbox };
    const lastSandbox = ending.sandbox === undefined ? {} : { sandbox: ending.sandbox };
    const told = explainEnd(
      this.#request,
      { ...ending, ...sandbox, ...lastSandbox },
      { output: lastBytes(this.#stdout), errors: lastBytes(this.#stderr) },
    );
    this.#told = { ...lastSandbox, ...told };
    if (ending.aborted) this.#status = this.#endedBy;
    else this.#status = ending.exitCode === 0 ? 'completed' : 'failed';
  }
}

function lastBytes(log: ShellLog): string {
  return log.bytes().subarray(-4096).toString('latin1');
}

const NEVER_STARTED: CommandEnding = {
  exitCode: null,
  signal: null,
  aborted: false,
  survivors: [],
  refused: [],
  neverStarted: true,
};

/** The limit of a timer; three weeks. */
const LONGEST_TIMER = 2_000_000_000;
