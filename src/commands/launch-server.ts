import type { Writable } from 'node:stream';
import type { StartedCommand } from '../contract/processes.js';
import type { ProgramRequest } from '../contract/programs.js';
import { type CommandEnding, launchProcess } from './launch-command.js';
import type { ByteSink } from './pump-output.js';
import { startProgram } from './run-program.js';
import { identify } from './run-to-its-end.js';

/** A program that goes on, and is written to while it runs. */
export interface ServerRequest extends Pick<ProgramRequest, 'file' | 'args' | 'cwd' | 'env' | 'signal'> {
  /** Told in the order of the bytes. While its promise is pending nothing more is read. */
  readonly onOutput: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void | Promise<void>;
}

export interface LaunchedServer {
  readonly process: StartedCommand;
  /** What comes too late for it is lost; `ended` says so. */
  write(text: string): void;
  /** It reads the end of its input, and may go. */
  closeInput(): void;
  /** Resolves when it and everything it started has ended. Never rejects. */
  readonly ended: Promise<CommandEnding>;
}

/**
 * Starts it, and sees to its end as to that of a command: by itself, by `signal`, or with this program, however that ends.
 * It does not keep this program alive.
 * @throws ToolError `spawn_failed`.
 */
export async function launchServer(request: ServerRequest): Promise<LaunchedServer> {
  let stdin: Writable | undefined;
  const launched = await launchProcess(
    {
      signal: request.signal,
      onOutput: request.onOutput,
      stdout: NO_SINK,
      stderr: NO_SINK,
      inBackground: true,
    },
    async (mark) => {
      const started = await startProgram(request, 'pipe', mark);
      ({ stdin } = started.process);
      // A broken pipe: it is gone, which `ended` says.
      stdin?.on('error', () => {});
      return started;
    },
  );
  return {
    process: identify(launched),
    write: (text) => void stdin?.write(text),
    closeInput: () => void stdin?.end(),
    ended: launched.ended.catch(() => UNKNOWN_END),
  };
}

/** All goes to `onOutput`. */
const NO_SINK: ByteSink = { push() {} };

const UNKNOWN_END: CommandEnding = {
  exitCode: null,
  signal: null,
  aborted: true,
  survivors: [],
  refused: [],
  neverStarted: false,
};
