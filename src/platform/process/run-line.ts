import { spawn } from 'node:child_process';

/** What a command line of `sh` has given. */
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
}

/** Runs a line as hooks are run: by `sh`, with a text on standard input. Never rejects; what hangs is killed. */
export function runLine(line: string, { cwd, env, input, timeoutMs }: LineRun): Promise<LineEnd> {
  return new Promise((resolve) => {
    const child = spawn('sh', ['-c', line], { cwd, env, timeout: timeoutMs, killSignal: 'SIGKILL' });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', (error) => resolve({ code: null, stdout, stderr: `${stderr}${error.message}` }));
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}
