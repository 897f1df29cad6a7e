import type { KeptOutput, StartedCommand } from '../contract/processes.js';
import { ToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import { errnoOf } from '../platform/fs/fs-entry.js';
import { type InputFile, openInputFile } from '../platform/process/input-file.js';
import { readProcess } from '../platform/process/proc-table.js';
import { startProcess } from '../platform/process/start-process.js';
import { type CommandMark, markFor } from './command-mark.js';
import { createKeptBytes } from './kept-bytes.js';
import { type LaunchedCommand, launchProcess } from './launch-command.js';
import type { StartedCommand as StartedProgram } from './start-command.js';

/** One program to run to its end, without a shell and without a sandbox. */
export interface ProgramRequest {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** All of its standard input. */
  readonly input: string;
  /** Aborting it ends everything the program started. */
  readonly signal: AbortSignal;
  /** Of standard output; a program that writes more is ended. */
  readonly maxOutputBytes: number;
  /** Of standard error: the first and the last half are kept. */
  readonly keepErrorBytes: number;
  readonly onOutput?: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void | Promise<void>;
  /** Told when it runs. */
  readonly onStarted?: (process: StartedCommand) => void;
}

export interface ProgramOutcome {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Whole, unless `overflow`: then its first `maxOutputBytes`. */
  readonly stdout: Buffer;
  readonly stderr: KeptOutput;
  /** It wrote more than `maxOutputBytes`, and was ended for it. */
  readonly overflow: boolean;
  /** It was ended by `signal`. */
  readonly aborted: boolean;
  readonly durationMs: number;
  /** Process ids that could not be killed; empty as a rule. */
  readonly survivors: readonly number[];
}

/**
 * Runs a program to its end, and ends what it leaves running.
 * @throws ToolError `spawn_failed` when it cannot be started; what `onOutput` threw, once everything is dead.
 */
export async function runProgram(request: ProgramRequest): Promise<ProgramOutcome> {
  const startedAt = systemClock.monotonic();
  const flooded = new AbortController();
  const stdout = createBoundedBytes(request.maxOutputBytes, () => flooded.abort());
  const stderr = createKeptBytes(request.keepErrorBytes);
  const input = openInput(request);
  try {
    const launched = await launchProcess(
      {
        signal: AbortSignal.any([request.signal, flooded.signal]),
        onOutput: request.onOutput,
        stdout,
        stderr,
      },
      (mark) => startProgram(request, input.fd, mark),
    );
    request.onStarted?.(identify(launched));
    const { exitCode, signal, survivors } = await launched.ended;
    return {
      exitCode,
      signal,
      survivors,
      stdout: stdout.end(),
      stderr: stderr.end(),
      overflow: flooded.signal.aborted,
      aborted: request.signal.aborted,
      durationMs: systemClock.monotonic() - startedAt,
    };
  } finally {
    input.close();
  }
}

/** @param input what its standard input is. @throws ToolError `spawn_failed`. */
export async function startProgram(
  request: Pick<ProgramRequest, 'file' | 'args' | 'cwd' | 'env'>,
  input: number | 'pipe',
  mark: CommandMark,
): Promise<StartedProgram> {
  const { file, args, cwd, env } = request;
  const inherit = mark.file === undefined ? {} : { inherit: mark.file.fd };
  const start = { file, name: file, args, cwd, env, mark: markFor(env, mark), input, ...inherit };
  try {
    return {
      process: await startProcess(start),
      wall: { kind: 'none', network: true },
      read: (end) => ({ ...end, neverStarted: false, tidied: false }),
      told: () => undefined,
      close() {},
    };
  } catch (error) {
    throw spawnFailed(request, error);
  }
}

function openInput(request: ProgramRequest): InputFile {
  try {
    return openInputFile(request.input);
  } catch (error) {
    throw spawnFailed(request, error);
  }
}

export function identify({
  pid,
  startTicks = readProcess(pid)?.startTicks,
}: LaunchedCommand): StartedCommand {
  return startTicks === undefined ? { pid } : { pid, startTicks };
}

function spawnFailed({ file }: Pick<ProgramRequest, 'file'>, error: unknown): ToolError {
  const code = errnoOf(error) ?? 'EUNKNOWN';
  const errno = code.startsWith('ERR_INVALID_ARG') ? 'EINVAL' : code;
  return new ToolError(
    'spawn_failed',
    `Cannot start "${file}": ${WHY[errno] ?? 'the system refuses'} (${errno}).`,
    {
      details: { path: file, errno, executed: 'no' },
      ...(errno === 'EINVAL' ? {} : { cause: error }),
    },
  );
}

const WHY: Readonly<Record<string, string>> = {
  E2BIG: 'its environment is too long',
  EACCES: 'it may not be executed',
  EAGAIN: 'there are too many processes; try again when some have ended',
  EINVAL: 'a variable of its environment holds a NUL character',
  EMFILE: 'this process has too many files open; try again when fewer programs run',
  ENFILE: 'the machine has too many files open; try again later',
  ENOENT: 'it does not exist, or the interpreter that its first line names does not',
  ENOEXEC: 'it is no program for this machine',
  ENOMEM: 'there is not enough memory',
  ENOSPC: 'there is no room for its input',
  ETXTBSY: 'it is being written',
};

/** Keeps the first `maxBytes`; calls back once when there is more. */
function createBoundedBytes(maxBytes: number, onOverflow: () => void) {
  const chunks: Uint8Array[] = [];
  let length = 0;
  return {
    push(chunk: Uint8Array): void {
      const room = maxBytes - length;
      if (room <= 0) {
        onOverflow();
        return;
      }
      const taken = chunk.length <= room ? chunk : chunk.subarray(0, room);
      chunks.push(taken);
      length += taken.length;
      if (taken.length < chunk.length) onOverflow();
    },
    end: (): Buffer => Buffer.concat(chunks),
  };
}
