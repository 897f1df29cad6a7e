import { resolve } from 'node:path';
import {
  isObject,
  normalizeOptions,
  type OptionRules,
  option,
  showGiven,
} from '../base/normalize-options.js';
import type { BackgroundShells, CommandLimits, Confinement, ShellRequest } from '../contract/processes.js';
import { ToolError } from '../errors/tool-error.js';
import { readEnvironment } from '../platform/runtime/environment.js';
import { commandEnvironment } from './command-environment.js';
import { ShellProcess } from './shell-process.js';
import { useCommandHelpers } from './supervise-command.js';

/** The maximum number of running shells. */
const MOST_RUNNING = 32;
/** The maximum number of readable ended shells, and how long they stay. */
const MOST_ENDED = 100;
const KEPT_SECONDS = 3600;

/**
 * Background shells by id (B032–B038, C012–C015, C022, C023). Ended ones stay readable for an hour; at most
 * the newest hundred.
 */
export class ShellPool {
  readonly #shells = new Map<string, ShellProcess>();

  /**
   * Resolves when it runs.
   * @throws ToolError `spawn_failed`; `limit_exceeded` if 32 are running; `config_invalid` for an invalid
   * option.
   */
  async createShell(command: string, cwd = '.', options: ShellOptions = {}): Promise<ShellProcess> {
    const request = normalizeShell(command, cwd, options);
    this.#makeRoom();
    const created = new ShellProcess(request);
    // Before it runs, so that ending all shells finds it too.
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

  /** All shells, oldest first. */
  listShells(): ShellProcess[] {
    return [...this.#shells.values()];
  }

  listRunning(): ShellProcess[] {
    return this.listShells().filter(({ isRunning }) => isRunning);
  }

  /**
   * Adds a shell from another manager. @throws ToolError `config_invalid` if it is here already, or is not a
   * shell.
   */
  registerShell(shell: ShellProcess): void {
    if (!(shell instanceof ShellProcess)) {
      throw new ToolError(
        'config_invalid',
        'Cannot register this: it is not a shell that createShell has created.',
      );
    }
    if (this.#shells.has(shell.id)) {
      throw new ToolError(
        'config_invalid',
        `Cannot register ${shell.id}: a shell with this id already exists.`,
      );
    }
    this.#shells.set(shell.id, shell);
  }

  /** Removes a shell from the list; a running one continues. False if it was not there. */
  removeShell(id: string): boolean {
    return this.#shells.delete(id);
  }

  /**
   * Removes shells that ended earlier and returns their number. Running ones stay. @throws ToolError
   * `config_invalid` for an invalid age.
   */
  cleanupCompleted(maxAgeSeconds = KEPT_SECONDS): number {
    if (!(typeof maxAgeSeconds === 'number' && maxAgeSeconds >= 0)) {
      const given = showGiven(maxAgeSeconds);
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

  /** Resolves when all shells and everything they started are dead, with the number that was running. */
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

/**
 * The background shells of this program (B032–B040): every `new ShellManager()` is the same object until
 * `reset()`. An executor has separate shells. All shells end with the program.
 */
export class ShellManager extends ShellPool {
  constructor() {
    super();
    // biome-ignore lint/correctness/noConstructorReturn: B039 requires one instance for all.
    if (shared !== undefined) return shared;
    share(this);
  }

  /**
   * From now on, `new ShellManager()` creates a new one. Resolves when all shells of the old one are dead.
   */
  static async reset(): Promise<void> {
    const old = shared;
    shared = undefined;
    await old?.killAll();
  }
}

// Not a static member: the bundler renames a class that names itself in one.
let shared: ShellManager | undefined;

function share(manager: ShellManager): void {
  shared = manager;
}

/** The shells of one owner, an executor: they end with it. */
export function openBackgroundShells(): BackgroundShells {
  const pool = new ShellPool();
  const release = useCommandHelpers();
  return {
    async start({ command, cwd, ...options }) {
      return (await pool.createShell(command, cwd, options)).snapshot();
    },
    find: (id) => pool.getShell(id)?.snapshot(),
    read: (id, options) => pool.getShell(id)?.read(options),
    async kill(id) {
      const shell = pool.getShell(id);
      await shell?.kill();
      return shell?.snapshot();
    },
    async close() {
      await pool.killAll();
      await release();
    },
  };
}

export interface ShellOptions {
  /** Default `bash`. */
  readonly shell?: 'sh' | 'bash';
  /** Names without a value are left out. Default: the program's own environment, sanitized. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Ends it after this time with status `timeout`. Default: no limit. */
  readonly timeoutMs?: number;
  /** Default: not confined. */
  readonly confinement?: Confinement;
  /** Default: none. */
  readonly limits?: CommandLimits;
  /** Its commands share a loopback if `confinement` has rooms. Default: the shell has its own. */
  readonly conversation?: string;
}

/** Checks and completes a shell request. @throws ToolError `config_invalid`. */
export function normalizeShell(command: string, cwd: string, options: ShellOptions): ShellRequest {
  requireText('command', command);
  requireText('cwd', cwd);
  const { shell, env, timeoutMs, confinement, limits, conversation } = normalizeOptions(
    'options',
    options,
    RULES,
  );
  return {
    shell: shell ?? 'bash',
    command,
    cwd: resolve(cwd),
    env: env === undefined ? commandEnvironment(readEnvironment()) : withValues(env),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(confinement === undefined ? {} : { confinement }),
    ...(limits === undefined ? {} : { limits }),
    ...(conversation === undefined ? {} : { conversation }),
  };
}

/** Untyped callers come here too, and the system's error for a number as a command is not helpful. */
function requireText(what: string, given: unknown): void {
  if (typeof given === 'string') return;
  throw new ToolError('config_invalid', `The ${what} of a shell must be a text, not ${showGiven(given)}.`);
}

/** A caller that copies `process.env` may set a name to `undefined` to remove it. */
function withValues(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

const SHELLS: readonly unknown[] = ['sh', 'bash'];

const isEnvironment = (value: unknown): boolean =>
  isObject(value) &&
  Object.values(Object(value)).every((each) => each === undefined || typeof each === 'string');

const isDuration = (value: unknown): boolean => typeof value === 'number' && value > 0;

const RULES: OptionRules<{ [K in keyof ShellOptions]-?: ShellOptions[K] | undefined }> = {
  shell: option(undefined, (value) => SHELLS.includes(value), 'one of sh, bash'),
  env: option(undefined, isEnvironment, 'an object of texts'),
  timeoutMs: option(undefined, isDuration, 'more than 0 milliseconds'),
  confinement: option(undefined, isObject, 'an object'),
  limits: option(undefined, isObject, 'an object'),
  conversation: option(undefined, (value) => typeof value === 'string', 'a text'),
};
