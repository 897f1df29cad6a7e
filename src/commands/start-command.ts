import type { CommandRequest, CommandSandbox } from '../contract/processes.js';
import { ToolError } from '../errors/tool-error.js';
import { findShell, isDirectory } from '../platform/process/find-shell.js';
import type { ProcessEnd, StartedProcess } from '../platform/process/spawn.js';
import { startProcess } from '../platform/process/start-process.js';
import { limitLines } from './command-limits.js';
import { type CommandMark, markFor } from './command-mark.js';
import { chooseSandbox } from './sandbox/find-sandbox.js';
import { type CommandEntry, openSandbox } from './sandbox/open-sandbox.js';
import type { SandboxedEnd } from './sandbox/sandbox-program.js';

export type CommandStart = Pick<
  CommandRequest,
  'shell' | 'command' | 'cwd' | 'env' | 'confinement' | 'limits'
>;

export interface StartedCommand {
  readonly process: StartedProcess;
  readonly wall: CommandSandbox;
  /** What its end says of the command, which is not always the process that was started. */
  read(end: ProcessEnd): SandboxedEnd;
  /** How the process has ended, once no process has its output open; undefined where only the system can say so. */
  told(): ProcessEnd | undefined;
  /** To be called when it has ended. */
  close(): void;
}

/**
 * Starts `sh -c command` or `bash -c command`, inside the sandbox where one is wanted and can be built.
 * @throws ToolError spawn_failed, `details`: `{ shell, cwd, errno }`; sandbox_violation where there is no sandbox and one
 *   is required.
 */
export async function startCommand(request: CommandStart, mark: CommandMark): Promise<StartedCommand> {
  const { shell, cwd, confinement } = request;
  const file = findShell(shell, request.env.PATH);
  if (file === undefined) throw spawnFailed(request, 'ENOENT', `there is no ${shell} on this machine`);
  const { wall, inside } = await chooseSandbox(confinement);
  const entry =
    inside === undefined ? plainEntry(request, file) : openSandbox({ request, shellFile: file, ...inside });
  try {
    const inherit = mark.file === undefined ? {} : { inherit: mark.file.fd };
    const { env } = entry;
    const process = await startProcess({ ...entry.start, cwd, env, mark: markFor(env, mark), ...inherit });
    return { process, wall, read: entry.read, told: entry.told, close: entry.close };
  } catch (error) {
    entry.close();
    const errno = errnoOf(error);
    throw spawnFailed(request, errno, causeInWords(request, errno), error);
  }
}

function plainEntry(request: CommandStart, file: string): CommandEntry {
  return {
    start: plainStart(request, file),
    env: request.env,
    read: (end) => ({ ...end, neverStarted: false, tidied: false }),
    told: () => undefined,
    close() {},
  };
}

function plainStart({ shell, command, limits = {} }: CommandStart, file: string): CommandEntry['start'] {
  const lines = limitLines(limits, false);
  // The last is what `$0` says.
  if (lines === '') return { file, name: shell, args: ['-c', command, shell] };
  const args = ['-c', `${lines}\nexec "$@"`, 'toolexec', file, '-c', command, shell];
  return { file: findShell('sh') ?? file, name: 'sh', args };
}

function spawnFailed(request: CommandStart, errno: string, why: string, cause?: unknown): ToolError {
  const { shell, cwd } = request;
  return new ToolError('spawn_failed', `Cannot start ${shell} in "${cwd}": ${why} (${errno}).`, {
    details: { shell, cwd, errno },
    // What Node says about a wrong argument quotes it, and it may be a variable that holds a secret.
    ...(cause === undefined || errno === 'EINVAL' ? {} : { cause }),
  });
}

function errnoOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'EUNKNOWN';
  return code.startsWith('ERR_INVALID_ARG') ? 'EINVAL' : code;
}

function causeInWords({ cwd }: CommandStart, errno: string): string {
  // The system says ENOENT and names the shell when it is the directory that is missing.
  if (!isDirectory(cwd)) return 'the working directory is no directory; use one that exists';
  return WHY[errno] ?? 'the system refuses';
}

const WHY: Readonly<Record<string, string>> = {
  E2BIG: 'command and environment together are too long; put the command into a file',
  EACCES: 'the shell may not be executed, or the directory not be entered',
  EAGAIN: 'there are too many processes; try again when some have ended',
  EINVAL: 'command, directory and environment must not hold a NUL character',
  EMFILE: 'this process has too many files open; try again when fewer commands run',
  ENFILE: 'the machine has too many files open; try again later',
  ENOMEM: 'there is not enough memory',
};
