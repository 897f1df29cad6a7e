import { ToolError } from '../errors/tool-error.js';
import { type ShellOptions, settleShell } from './shell-options.js';
import { ShellProcess } from './shell-process.js';

/** Shells that may run at a time. */
const MOST_RUNNING = 32;
/** Ended shells that stay readable, and for how long: whichever is less. */
const MOST_ENDED = 100;
const KEPT_SECONDS = 3600;

/**
 * Background shells by their id (B032–B038, C012–C015, C022, C023). Ended ones stay readable for an hour; the newest
 * hundred of them.
 */
export class ShellPool {
  readonly #shells = new Map<string, ShellProcess>();

  /**
   * Resolves when it runs.
   * @throws ToolError `spawn_failed`; `limit_exceeded` when 32 run already; `config_invalid` for what is no option.
   */
  async createShell(command: string, cwd = '.', options: ShellOptions = {}): Promise<ShellProcess> {
    const request = settleShell(command, cwd, options);
    this.#makeRoom();
    const created = new ShellProcess(request);
    // Before it runs: whoever ends all shells now must find this one too.
    this.#shells.set(created.id, created);
    try {
      await created.start();
    } catch (error) {
      this.#shells.delete(created.id);
      throw error;
    }
    return created;
  }

  getShell(id: string): ShellProcess | undefined {
    return this.#shells.get(id);
  }

  /** All of them, the oldest first. */
  listShells(): ShellProcess[] {
    return [...this.#shells.values()];
  }

  listRunning(): ShellProcess[] {
    return this.listShells().filter(({ isRunning }) => isRunning);
  }

  /** Takes in a shell that another manager has made. @throws ToolError `config_invalid` when it is here already, or none. */
  registerShell(shell: ShellProcess): void {
    if (!(shell instanceof ShellProcess)) {
      throw new ToolError(
        'config_invalid',
        'Cannot register this: it is no shell that createShell has made.',
      );
    }
    if (this.#shells.has(shell.id)) {
      throw new ToolError(
        'config_invalid',
        `Cannot register ${shell.id}: a shell with this id is here already.`,
      );
    }
    this.#shells.set(shell.id, shell);
  }

  /** Forgets a shell, which goes on if it runs. False: there was none. */
  removeShell(id: string): boolean {
    return this.#shells.delete(id);
  }

  /** Forgets shells that ended longer ago: how many. Running ones stay. @throws ToolError `config_invalid` for no age. */
  cleanupCompleted(maxAgeSeconds = KEPT_SECONDS): number {
    if (!(typeof maxAgeSeconds === 'number' && maxAgeSeconds >= 0)) {
      const given = String(maxAgeSeconds);
      throw new ToolError(
        'config_invalid',
        `maxAgeSeconds must be a number of seconds from 0, not ${given}.`,
      );
    }
    const old = this.listShells().filter(
      ({ isRunning, endedForMs }) => !isRunning && endedForMs >= maxAgeSeconds * 1000,
    );
    for (const { id } of old) this.#shells.delete(id);
    return old.length;
  }

  /** Resolves when all are dead with everything they started: how many were running. */
  async killAll(): Promise<number> {
    const killed = await Promise.all(this.listRunning().map((shell) => shell.kill()));
    return killed.filter(Boolean).length;
  }

  #makeRoom(): void {
    this.cleanupCompleted();
    const ended = this.listShells().filter(({ isRunning }) => !isRunning);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) this.#shells.delete(id);
    if (this.listRunning().length < MOST_RUNNING) return;
    throw new ToolError(
      'limit_exceeded',
      `Cannot start another background shell: ${MOST_RUNNING} are running. Kill some with kill_shell first.`,
      { details: { limit: 'backgroundShells', max: MOST_RUNNING } },
    );
  }
}
