import type { Writable } from 'node:stream';
import type { StartedCommand } from '../contract/processes.js';
import type { ProgramRequest } from '../contract/programs.js';
import { type CommandEnding, launchProcess } from './launch-command.js';
import type { ByteSink } from './pump-output.js';
import { startProgram } from './run-program.js';
import { identify } from './run-to-its-end.js';

/** A program that keeps running and receives input meanwhile. */
export interface ServerRequest extends Pick<ProgramRequest, 'file' | 'args' | 'cwd' | 'env' | 'signal'> {
  /** Called in the order of the bytes. Reading stops while its promise is pending. */
  readonly onOutput: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void | Promise<void>;
}

export interface LaunchedServer {
  readonly process: StartedCommand;
  /** Input after the end of the program is lost; `ended` reports that end. */
  write(text: string): void;
  /** Ends the input, so that the program may exit. */
  closeInput(): void;
  /** Resolves when the program and everything it started have ended. Never rejects. */
  readonly ended: Promise<CommandEnding>;
}

/**
 * Starts the program and supervises it like a command: it ends by itself, by `signal`, or together with this
 * program. It does not keep this program alive.
 * @throws ToolError `spawn_failed`
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
      // A broken pipe: the program is gone, and `ended` reports that.
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

/** Everything goes to `onOutput`. */
const NO_SINK: ByteSink = { push() {} };

const UNKNOWN_END: CommandEnding = {
  exitCode: null,
  signal: null,
  aborted: true,
  survivors: [],
  refused: [],
  neverStarted: false,
};
