import { ToolError } from '../errors/tool-error.js';
import type { ReaderEnd } from '../platform/process/spawn-reader.js';
import { spawnReader } from '../platform/process/spawn-reader.js';
import { findRipgrep } from './find-ripgrep.js';

export interface RipgrepRun {
  readonly args: readonly string[];
  readonly cwd: string;
  /** Arguments before its command line. */
  readonly under: readonly string[];
  /** No program inside them is run. */
  readonly roots: readonly string[];
  /** Open files to inherit as descriptors 3, 4, … */
  readonly inherit: readonly number[];
  readonly signal: AbortSignal;
  /** Returns `enough` to end the program. */
  readonly onOutput: (chunk: Buffer) => 'enough' | undefined;
}

export interface RipgrepEnd {
  /** Some files or directories could not be read. */
  readonly unreadable: boolean;
  /** The signal was aborted before the end. */
  readonly stopped: boolean;
}

/** Ignores configuration files, and prints nothing for people. */
const ALWAYS = ['--no-config', '--color', 'never', '--no-messages', '--no-ignore-messages', '--null'];

/**
 * Runs ripgrep to its end. It is gone when the promise resolves.
 * @throws ToolError `bad_args` with ripgrep's message for an invalid pattern or type; `execution_failed` if
 * it is not available or fails
 */
export async function runRipgrep(run: RipgrepRun): Promise<RipgrepEnd> {
  if (run.signal.aborted) return { unreadable: false, stopped: true };
  const file = await findRipgrep(run.roots);
  if (run.signal.aborted) return { unreadable: false, stopped: true };
  const reader = start(file, run);
  let hasEnough = false;
  let failure: { readonly error: unknown } | undefined;
  reader.stdout.on('data', (chunk: Buffer) => {
    if (hasEnough || failure !== undefined) return;
    try {
      hasEnough = run.onOutput(chunk) === 'enough';
    } catch (error) {
      failure = { error };
    }
    if (hasEnough || failure !== undefined) reader.kill();
  });
  run.signal.addEventListener('abort', reader.kill);
  try {
    const end = await reader.ended;
    if (failure !== undefined) throw failure.error;
    if (hasEnough) return { unreadable: false, stopped: false };
    if (run.signal.aborted && end.signal !== null) return { unreadable: false, stopped: true };
    return readEnd(end);
  } catch (error) {
    throw error instanceof ToolError ? error : startFailed(error);
  } finally {
    run.signal.removeEventListener('abort', reader.kill);
  }
}

function start(ripgrep: string, { args, cwd, inherit, under }: RipgrepRun): ReturnType<typeof spawnReader> {
  const [file = ripgrep, ...line] = [...under, ripgrep, ...ALWAYS, ...args];
  try {
    return spawnReader({ file, args: line, cwd, inherit });
  } catch (error) {
    throw startFailed(error);
  }
}

function startFailed(error: unknown): ToolError {
  const why = error instanceof Error ? error.message : String(error);
  return new ToolError('execution_failed', `Cannot search: ripgrep could not be run (${why}).`, {
    cause: error,
  });
}

const SOMETHING_FAILED = 2;

/** Messages about single files are off, so the remaining ones concern the arguments. */
function readEnd({ exitCode, signal, stderr }: ReaderEnd): RipgrepEnd {
  if (exitCode === null) {
    throw new ToolError('execution_failed', `Cannot search: ripgrep was ended by ${signal ?? 'a signal'}.`);
  }
  const said = stderr.replace(/^rg: /, '').trim();
  if (exitCode < SOMETHING_FAILED || said === '') {
    return { unreadable: exitCode >= SOMETHING_FAILED, stopped: false };
  }
  const isAboutTheMachine = /\(os error \d+\)/.test(said);
  const code = isAboutTheMachine ? 'execution_failed' : 'bad_args';
  throw new ToolError(code, `Cannot search: ${withoutFlags(said)}`);
}

/** Models cannot set the flags that ripgrep recommends, so the message names the tool's own arguments. */
function withoutFlags(said: string): string {
  return said.replace(/\n\nConsider enabling (.+) with the --[a-z][\s\S]*$/, (_, feature: string) => {
    if (feature === 'PCRE2') return '\n\nWrite the pattern without look-around and back-references.';
    return feature === 'multiline mode' ? '\n\nSet multiline to true.' : '';
  });
}
