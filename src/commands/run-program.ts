import { dirname } from 'node:path';
import { covers } from '../base/covers.js';
import { quoted } from '../base/quote-word.js';
import type { Confinement, KeptOutput } from '../contract/processes.js';
import type { ProgramOutcome, ProgramRequest, RunProgram } from '../contract/programs.js';
import { ToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import { errnoOf, realPath } from '../platform/fs/fs-entry.js';
import { type InputFile, openInputFile, writeInputFile } from '../platform/process/input-file.js';
import { startProcess } from '../platform/process/start-process.js';
import { type CommandMark, markFor } from './command-mark.js';
import { explainEnd, lastWords } from './explain-end.js';
import { createKeptBytes } from './kept-bytes.js';
import { type Launch, launchProcess } from './launch-command.js';
import { identify, runToItsEnd, type SandboxedEnding, type SettledEnd } from './run-to-its-end.js';
import type { StartedCommand as StartedProgram } from './start-command.js';
import type { Transaction } from './transaction/open-transaction.js';

/**
 * Runs a program to its end, and ends its remaining processes.
 * @throws ToolError `spawn_failed` if it cannot be started; `sandbox_violation` if a sandbox is required and
 * missing; an error of `onOutput`, after everything is dead.
 */
export const runProgram: RunProgram = (request) => runProgramIn(request);

/**
 * @param layers of an existing transaction, which stay. If absent: the program gets its own if its sandbox
 * says so.
 */
export async function runProgramIn(request: ProgramRequest, layers?: Transaction): Promise<ProgramOutcome> {
  const startedAt = systemClock.monotonic();
  let output = openOutput(request);
  let runs = 0;
  const open = (): Launch => {
    if (runs++ > 0) {
      output = openOutput(request);
      request.onRerun?.();
    }
    return {
      ...output,
      signal: AbortSignal.any([request.signal, output.flooded]),
      onOutput: request.onOutput,
    };
  };
  const { confinement } = request;
  const isConfined = confinement !== undefined && confinement.os !== 'off';
  const { ending, neverStarted, settled } = isConfined
    ? await runConfined(request, confinement, open, layers)
    : await runPlain(request, open());
  const kept = { stdout: output.stdout.end(), stderr: output.stderr.end() };
  if (neverStarted) throw notConfined(request, kept.stderr);
  const { exitCode, signal, survivors, sandbox, limit } = ending;
  const outcome = {
    ...{ exitCode, signal, survivors, sandbox, ...kept, ...settled },
    ...(limit === undefined ? {} : { limit }),
    overflow: output.flooded.aborted,
    aborted: request.signal.aborted,
    durationMs: systemClock.monotonic() - startedAt,
  };
  if (!isConfined) return outcome;
  const said = lastWords({ stdout: asText(kept.stdout), stderr: kept.stderr });
  return { ...outcome, ...explainEnd({ confinement, cwd: request.cwd }, { ...ending, sandbox }, said) };
}

/** The sinks for the output of one run. */
function openOutput({ maxOutputBytes, keepErrorBytes }: ProgramRequest) {
  const flood = new AbortController();
  const stdout = createBoundedBytes(maxOutputBytes, () => flood.abort());
  return { stdout, stderr: createKeptBytes(keepErrorBytes), flooded: flood.signal };
}

/** The end of a long output is the most informative part. */
function asText(bytes: Buffer): Pick<KeptOutput, 'head' | 'tail' | 'binary'> {
  return { head: bytes.subarray(-4096).toString('utf8'), tail: '', binary: false };
}

async function runPlain(request: ProgramRequest, launch: Launch): Promise<SettledEnd<SandboxedEnding>> {
  const input = openInput(request);
  try {
    const launched = await launchProcess(launch, (mark) => startProgram(request, input.fd, mark));
    request.onStarted?.(identify(launched));
    const { neverStarted, ...ending } = await launched.ended;
    return { ending: { sandbox: launched.sandbox, ...ending }, neverStarted, settled: {} };
  } finally {
    input.close();
  }
}

/**
 * The command sandbox has no input and starts a shell: the shell becomes the program, with a file as its
 * input. The program's folder is visible too, read-only.
 */
async function runConfined(
  request: ProgramRequest,
  confinement: Confinement,
  open: () => Launch,
  layers: Transaction | undefined,
): Promise<SettledEnd<SandboxedEnding>> {
  const { cwd, env, onStarting, writesThrough, conversation } = request;
  const input = writeInput(request);
  try {
    const readable = [...confinement.readable, ...besideProgram(request, confinement), input.path];
    return await runToItsEnd(request, () => ({
      ...{ ...open(), layers, shell: 'sh', command: commandLine(request, input.path), cwd, env },
      confinement: { ...confinement, readable },
      ...(onStarting === undefined ? {} : { onStarting }),
      ...(writesThrough === undefined ? {} : { writesThrough }),
      ...(conversation === undefined ? {} : { conversation }),
    }));
  } finally {
    input.close();
  }
}

function commandLine({ file, args }: ProgramRequest, input: string): string {
  return `exec ${[file, ...args].map(quoted).join(' ')} <${quoted(input)}`;
}

/** Files next to a program often belong to it; a folder with more than that is not shown. */
function besideProgram({ file, env }: ProgramRequest, { roots }: Confinement): readonly string[] {
  const kept = [...roots, ...(env.HOME === undefined ? [] : [env.HOME])];
  return [realPath(file) ?? file, file].map((path) =>
    kept.some((place) => covers(dirname(path), place)) ? path : dirname(path),
  );
}

/** @param input its standard input; undefined: none. @throws ToolError `spawn_failed`. */
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
      sandbox: { kind: 'none', network: true },
      read: (end) => ({ ...end, neverStarted: false, tidied: false }),
      exitStatus: () => undefined,
      leave: () => [],
      close() {},
    };
  } catch (error) {
    throw spawnFailed(request, error);
  }
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
  ENOEXEC: 'it is not a program for this machine',
  ENOMEM: 'there is not enough memory',
  ENOSPC: 'there is no room for its input',
  ETXTBSY: 'it is being written',
};

/** Keeps the first `maxBytes`; calls back once if there are more. */
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
