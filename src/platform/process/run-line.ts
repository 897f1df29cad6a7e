import { spawn } from 'node:child_process';
import { sendSignal } from './send-signal.js';

/** The result of a command line of `sh`. */
export interface LineEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface LineRun {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  readonly timeoutMs: number;
  /** Kills the line when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** A program that the line has left running may hold the pipes open: once `sh` has ended, silence this long ends the wait. */
const QUIET_MS = 1_000;

/** A line that prints more is killed, because nothing reads that much. */
const MOST_CHARACTERS = 8 * 1024 * 1024;

/**
 * Runs a line for a hook: by `sh`, with a text on standard input. Never rejects; a line that hangs is killed.
 */
export function runLine(line: string, { cwd, env, input, timeoutMs, signal }: LineRun): Promise<LineEnd> {
  return new Promise((resolve) => {
    // In a separate group, so that everything the line starts is killed with it.
    const child = spawn('sh', ['-c', line], { cwd, env, detached: true });
    const release = (): void => {
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    };
    const kill = (): void => {
      killGroup(child.pid);
      // A process that has left the group may hold these open for ever.
      release();
    };
    const timer = setTimeout(kill, timeoutMs);
    if (signal?.aborted === true) kill();
    else signal?.addEventListener('abort', kill, { once: true });
    let stdout = '';
    let stderr = '';
    const isTooMuch = (): boolean => stdout.length + stderr.length > MOST_CHARACTERS;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (isTooMuch()) kill();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      if (isTooMuch()) kill();
    });
    let quiet: NodeJS.Timeout | undefined;
    const releaseWhenQuiet = (): void => {
      quiet = setTimeout(() => {
        const before = stdout.length + stderr.length;
        // Reads what has been printed meanwhile: this process may have been busy.
        setImmediate(() => (stdout.length + stderr.length === before ? release() : releaseWhenQuiet()));
      }, QUIET_MS);
    };
    const end = (code: number | null, more = ''): void => {
      clearTimeout(timer);
      clearTimeout(quiet);
      signal?.removeEventListener('abort', kill);
      resolve({ code: isTooMuch() ? null : code, stdout, stderr: `${stderr}${more}` });
    };
    child.on('error', (error) => end(null, error.message));
    child.on('exit', releaseWhenQuiet);
    child.on('close', (code) => end(code));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

function killGroup(pid: number | undefined): void {
  if (pid !== undefined) sendSignal(-pid, 'SIGKILL');
}
