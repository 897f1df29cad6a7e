import { type ChildProcess, type ChildProcessWithoutNullStreams, fork, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import { bundleProgram } from '../../src/testing/fixtures/bundle-program.js';
import { buildFirst, builtCommand } from './built-command.js';
import type { HostedEnd, HostedRun } from './command-host.js';

export interface Ran {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunSettings {
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The shipped command in a process that ends with it, for tests of the process itself. */
  readonly ownProcess?: boolean;
}

/** A workspace, a state directory and the built command, all in one temporary directory. */
export class Toolexec {
  readonly #ownProcess: boolean;
  #folder: string | undefined;

  /** @param ownProcess for every run: see {@link RunSettings} */
  constructor({ ownProcess = false } = {}) {
    this.#ownProcess = ownProcess;
  }

  get main(): string {
    return builtCommand();
  }

  /** Created on first use, also again after it was removed. */
  get folder(): string {
    if (this.#folder === undefined) {
      this.#folder = mkdtempSync(join(tmpdir(), 'toolexec-cli-'));
      mkdirSync(join(this.#folder, 'root'));
    }
    return this.#folder;
  }

  get root(): string {
    return join(this.folder, 'root');
  }

  get state(): string {
    return join(this.folder, 'state');
  }

  /** Where a journal may be, beside the root. */
  get journal(): string {
    return join(this.folder, 'journal.db');
  }

  /** @returns its path. */
  write(name: string, content: string | Uint8Array): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  json(name: string, value: unknown): string {
    return this.write(name, JSON.stringify(value));
  }

  /** Most runs share a process with earlier ones: see `command-host.ts`. */
  async run(args: readonly string[], settings: RunSettings = {}): Promise<Ran> {
    const { stdin = '', cwd = this.root, ownProcess = this.#ownProcess || isAnotherUser() } = settings;
    if (!ownProcess && typeof stdin === 'string' && stdin.length < LONG_TEXT)
      return runInHost({ program: this.main, args, env: this.environment(settings.env), cwd, stdin });
    const child = this.start(args, settings);
    child.stdin.on('error', () => {});
    child.stdin.end(settings.stdin ?? '');
    return ended(child);
  }

  start(args: readonly string[], settings: RunSettings = {}): ChildProcessWithoutNullStreams {
    return spawn(process.execPath, [this.main, ...args], {
      cwd: settings.cwd ?? this.root,
      env: this.environment(settings.env),
      // A separate session: the terminal of the test run must not be asked.
      detached: true,
    });
  }

  environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return {
      PATH: process.env.PATH ?? '',
      HOME: this.folder,
      XDG_STATE_HOME: this.state,
      // Each process has a separate state directory, where Node would keep its compiled code.
      NODE_DISABLE_COMPILE_CACHE: '1',
      ...more,
    };
  }

  remove(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }
}

/** A workspace for the tests of a file, empty for each of them. The command is built before the first. */
export function useToolexec(settings: { readonly ownProcess?: boolean } = {}): Toolexec {
  const toolexec = new Toolexec(settings);
  buildFirst();
  afterEach(() => toolexec.remove());
  return toolexec;
}

const LONG_TEXT = 100_000;
let hostProgram: string | undefined;
/** Processes without a run: two runs at once have two. */
const idleHosts: ChildProcess[] = [];

function runInHost(run: HostedRun): Promise<Ran> {
  const host = idleHosts.pop() ?? startHost();
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null, signal: string | null): void => {
      reject(new Error(`The process of the command ended: ${code ?? signal}.`));
    };
    host.once('exit', onExit);
    host.once('message', (end: HostedEnd) => {
      host.removeListener('exit', onExit);
      idleHosts.push(host);
      resolve(end);
    });
    host.send(run);
  });
}

/** A test has temporarily given up its privileges. */
function isAnotherUser(): boolean {
  return process.geteuid?.() !== process.getuid?.();
}

function startHost(): ChildProcess {
  hostProgram ??= bundleProgram(join(import.meta.dirname, 'command-host.ts'));
  // A separate session, as in `start`.
  const host = fork(hostProgram, { detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  host.unref();
  host.channel?.unref();
  return host;
}

export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ran> {
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, stdout, stderr };
}

export interface Block {
  readonly type: string;
  readonly tool_use_id: string;
  readonly content: string;
  readonly is_error?: boolean;
}

/** The blocks of an Anthropic answer. */
export function blocksOf(stdout: string): readonly Block[] {
  return (JSON.parse(stdout) as { content: readonly Block[] }).content;
}

/** An Anthropic message with these calls, `toolu_1` and on. */
export function message(...calls: readonly (readonly [name: string, input: unknown])[]): unknown {
  const content = calls.map(([name, input], index) => ({
    type: 'tool_use',
    id: `toolu_${index + 1}`,
    name,
    input,
  }));
  return { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Let me see.' }, ...content] };
}
