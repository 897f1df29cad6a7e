import type { CommandRequest } from '../contract/processes.js';
import { ToolError } from '../errors/tool-error.js';
import { findShell, isDirectory } from '../platform/find-shell.js';
import type { StartedProcess } from '../platform/spawn.js';
import { startProcess } from '../platform/start-process.js';
import { type CommandMark, withMark } from './command-mark.js';

type CommandStart = Pick<CommandRequest, 'shell' | 'command' | 'cwd' | 'env'>;

/**
 * Starts `sh -c command` or `bash -c command`.
 * @throws ToolError spawn_failed, `details`: `{ shell, cwd, errno }`.
 */
export async function startCommand(request: CommandStart, mark: CommandMark): Promise<StartedProcess> {
  const { shell, command, cwd } = request;
  const file = findShell(shell, request.env.PATH);
  if (file === undefined) throw spawnFailed(request, 'ENOENT', `there is no ${shell} on this machine`);
  try {
    const inherit = mark.file === undefined ? {} : { inherit: mark.file.fd };
    const env = withMark(request.env, mark);
    return await startProcess({ file, name: shell, args: ['-c', command], cwd, env, ...inherit });
  } catch (error) {
    const errno = errnoOf(error);
    throw spawnFailed(request, errno, causeInWords(request, errno), error);
  }
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
