import { dirname } from 'node:path';
import { covers } from '../base/covers.js';
import type { CommandSandbox, Confinement, KeptOutput, StartedCommand } from '../contract/processes.js';
import { ToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import { errnoOf, realPath } from '../platform/fs/fs-entry.js';
import { type InputFile, openInputFile, writeInputFile } from '../platform/process/input-file.js';
import { readProcess } from '../platform/process/proc-table.js';
import { startProcess } from '../platform/process/start-process.js';
import { type CommandMark, markFor } from './command-mark.js';
import { createKeptBytes } from './kept-bytes.js';
import { type LaunchedCommand, launchProcess } from './launch-command.js';
import { type StartedCommand as StartedProgram, startCommand } from './start-command.js';

/** One program to run to its end, without a shell; in the command sandbox where `confinement` says so. */
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
  /** Left out: it may touch what the user may. */
  readonly confinement?: Confinement | undefined;
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
  /** What stood around it. */
  readonly wall: CommandSandbox;
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
  const confinement = request.confinement?.os === 'off' ? undefined : request.confinement;
  const plain = confinement === undefined ? openInput(request) : undefined;
  const named = confinement === undefined ? undefined : { confinement, input: writeInput(request) };
  try {
    const launched = await launchProcess(
      {
        signal: AbortSignal.any([request.signal, flooded.signal]),
        onOutput: request.onOutput,
        stdout,
        stderr,
      },
      (mark) =>
        named === undefined
          ? startProgram(request, plain?.fd, mark)
          : startConfined(request, { ...named.confinement, input: named.input.path }, mark),
    );
    request.onStarted?.(identify(launched));
    const { exitCode, signal, survivors, neverStarted } = await launched.ended;
    if (neverStarted) throw notConfined(request, stderr.end());
    return {
      exitCode,
      signal,
      survivors,
      wall: launched.wall,
      stdout: stdout.end(),
      stderr: stderr.end(),
      overflow: flooded.signal.aborted,
      aborted: request.signal.aborted,
      durationMs: systemClock.monotonic() - startedAt,
    };
  } finally {
    plain?.close();
    named?.input.close();
  }
}

/** @param input what its standard input is; undefined: it has none. @throws ToolError `spawn_failed`. */
export async function startProgram(
  request: Pick<ProgramRequest, 'file' | 'args' | 'cwd' | 'env'>,
  input: number | 'pipe' | undefined,
  mark: CommandMark,
): Promise<StartedProgram> {
  const { file, args, cwd, env } = request;
  const inherit = mark.file === undefined ? {} : { inherit: mark.file.fd };
  const start = {
    file,
    name: file,
    args,
    cwd,
    env,
    mark: markFor(env, mark),
    ...(input === undefined ? {} : { input }),
    ...inherit,
  };
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

interface ConfinedBy extends Confinement {
  /** The file that its standard input is. */
  readonly input: string;
}

/**
 * The command sandbox has no input and starts a shell: that becomes the program, with a file as its input. What lies beside
 * the program is there too, read-only; its changes are real at once.
 */
function startConfined(
  { file, args, cwd, env }: ProgramRequest,
  confined: ConfinedBy,
  mark: CommandMark,
): Promise<StartedProgram> {
  const { input, transactions: _, ...confinement } = confined;
  const command = `exec ${[file, ...args].map(quoted).join(' ')} <${quoted(input)}`;
  const real = realPath(file) ?? file;
  const kept = [...confinement.roots, ...(env.HOME === undefined ? [] : [env.HOME])];
  // What lies beside the program is often a part of it; a folder that holds more than that is not shown for it.
  const beside = [real, file].map((path) =>
    kept.some((place) => covers(dirname(path), place)) ? path : dirname(path),
  );
  const readable = [...confinement.readable, ...beside, input];
  return startCommand({ shell: 'sh', command, cwd, env, confinement: { ...confinement, readable } }, mark);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function notConfined({ file }: ProgramRequest, { head }: KeptOutput): ToolError {
  const said = head.trim().slice(0, 500);
  return new ToolError('spawn_failed', `Cannot start "${file}": its sandbox could not be built.`, {
    details: { path: file, executed: 'no' },
    ...(said === '' ? {} : { hint: said }),
  });
}

function writeInput(request: ProgramRequest): ReturnType<typeof writeInputFile> {
  try {
    return writeInputFile(request.input);
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
