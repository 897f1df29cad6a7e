import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A terminal that is drawn as a person would see it: tmux. */
export const hasScreens = spawnSync('tmux', ['-V'], { stdio: 'ignore' }).status === 0;

export interface ScreenSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly columns?: number;
  readonly rows?: number;
}

/** One tmux server for a test file; every program gets its own screen. */
export class Screens {
  readonly #folder = mkdtempSync(join(tmpdir(), 'toolexec-screens-'));
  #count = 0;

  /** Runs a program in front of a person. Its standard output is on the screen as well. */
  open(argv: readonly string[], { env, cwd, columns = 100, rows = 40 }: ScreenSettings): Screen {
    const name = `s${++this.#count}`;
    const words = Object.entries(env).map(([key, value]) => `${key}=${value}`);
    const code = join(this.#folder, `${name}.code`);
    const program = ['env', '-i', 'TERM=screen', ...words, 'sh', '-c', TELLING, 'sh', code, ...argv];
    const size = ['-x', String(columns), '-y', String(rows)];
    this.#tmux('-f', '/dev/null', 'new-session', '-d', '-s', name, ...size, '-c', cwd, 'cat');
    this.#tmux('set-option', '-t', name, 'remain-on-exit', 'on');
    this.#tmux('set-option', '-t', name, 'status', 'off');
    this.#tmux('respawn-pane', '-k', '-t', name, '-c', cwd, ...program);
    return new Screen((...words) => this.#tmux(...words), name, code);
  }

  close(): void {
    spawnSync('tmux', ['-S', join(this.#folder, 'socket'), 'kill-server'], { stdio: 'ignore' });
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #tmux(...words: readonly string[]): string {
    return execFileSync('tmux', ['-u', '-S', join(this.#folder, 'socket'), ...words], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '', HOME: this.#folder, LC_ALL: 'C.UTF-8' },
    });
  }
}

/** tmux sometimes loses the last output of its programs. Ctrl-C is only for the program. */
const TELLING = 'trap : INT; code=$1; shift; "$@"; echo $? >"$code.new"; mv "$code.new" "$code"';

/** Each check starts a process. */
const PAUSE_MS = 100;
const PATIENCE_MS = 40_000;

export class Screen {
  readonly #tmux: (...words: string[]) => string;
  readonly #target: string;
  readonly #code: string;

  /** @param code the file that its exit code will be in */
  constructor(tmux: (...words: string[]) => string, target: string, code: string) {
    this.#tmux = tmux;
    this.#target = target;
    this.#code = code;
  }

  /** The screen, and the lines that have scrolled out at the top. */
  text(): string {
    // A line wrapped by the terminal is two lines, as the person sees it.
    return `${this.#tmux('capture-pane', '-p', '-t', this.#target, '-S', '-').trimEnd()}\n`;
  }

  /** Resolves to the screen once it contains this text, regardless of the terminal's line breaks. */
  async shows(what: string | RegExp): Promise<string> {
    return this.#until(() => {
      const text = this.#tmux('capture-pane', '-p', '-J', '-t', this.#target, '-S', '-');
      return (typeof what === 'string' ? text.includes(what) : what.test(text)) ? this.text() : undefined;
    }, String(what));
  }

  /** Types the words unchanged. */
  type(text: string): void {
    this.#tmux('send-keys', '-t', this.#target, '-l', text);
  }

  /** Pastes a text, as a terminal does for a program with bracketed paste. */
  paste(text: string): void {
    this.#tmux('set-buffer', text);
    this.#tmux('paste-buffer', '-p', '-t', this.#target);
  }

  /** Presses keys by their names: Enter, Escape, C-c. */
  press(...keys: string[]): void {
    this.#tmux('send-keys', '-t', this.#target, ...keys);
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-t', this.#target, '-x', String(columns), '-y', String(rows));
  }

  /** Waits for the program's end; returns its exit code and everything it has shown. */
  async ended(): Promise<{ readonly code: number; readonly text: string }> {
    const code = await this.#until(() => {
      // When its terminal is gone, everything that it has shown has been drawn.
      const isGone = this.#tmux('display-message', '-p', '-t', this.#target, '#{pane_dead}').trim() === '1';
      return isGone && existsSync(this.#code) ? Number(readFileSync(this.#code, 'utf8')) : undefined;
    }, 'the end of the program');
    const text = this.text().replace(/\n*Pane is dead[^\n]*\n*$/, '\n');
    return { code, text };
  }

  async #until<T>(look: () => T | undefined, what: string): Promise<T> {
    for (const end = performance.now() + PATIENCE_MS; ; ) {
      const found = look();
      if (found !== undefined) return found;
      if (performance.now() > end) throw new Error(`The screen never showed ${what}:\n${this.text()}`);
      await pause(PAUSE_MS);
    }
  }
}
