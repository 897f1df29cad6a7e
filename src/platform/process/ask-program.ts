import { execFile } from 'node:child_process';

export type ProgramAnswer =
  | { readonly ok: true; readonly stdout: string }
  | { readonly ok: false; readonly reason: string };

const LIMIT_MS = 5000;
const LIMIT_BYTES = 64 * 1024;

/**
 * Runs a short program, for example to print its version, and returns its output. Never rejects: if the program cannot
 * be run, that is an answer too.
 */
export function askProgram(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ProgramAnswer> {
  return new Promise((resolve) => {
    const options = { env, timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: LIMIT_BYTES } as const;
    execFile(file, [...args], options, (error, stdout, stderr) => {
      if (error === null) resolve({ ok: true, stdout });
      else
        resolve({
          ok: false,
          reason: error.killed === true ? 'it does not answer' : lastLine(stderr, error),
        });
    }).stdin?.end();
  });
}

function lastLine(stderr: string, error: Error): string {
  return stderr.trim().split('\n').at(-1) || error.message.split('\n')[0] || 'it fails';
}
