import type { CommandOutcome, CommandRequest, CommandSandbox, Confinement, KeptOutput } from './processes.js';

/** One program to run to its end without a shell, in the command sandbox if `confinement` says so. */
export interface ProgramRequest
  extends Pick<
    CommandRequest,
    | 'onStarting'
    | 'onStarted'
    | 'onTransaction'
    | 'tool'
    | 'agree'
    | 'keepVersion'
    | 'writesThrough'
    | 'needsTransaction'
    | 'conversation'
    | 'cwd'
    | 'env'
    | 'signal'
  > {
  /** An absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  /** The whole standard input. */
  readonly input: string;
  /** Limit for standard output. A program that writes more is ended. */
  readonly maxOutputBytes: number;
  /** How much of standard error is kept: half from its start, half from its end. */
  readonly keepErrorBytes: number;
  readonly onOutput?: ((stream: 'stdout' | 'stderr', chunk: Uint8Array) => void | Promise<void>) | undefined;
  /** Called before the program is run again because of a conflict. Earlier output does not count. */
  readonly onRerun?: () => void;
  /** If absent: the program may touch everything that the user may. */
  readonly confinement?: Confinement | undefined;
  readonly forbids?: ForbidsChange | undefined;
}

/**
 * Why this call may not change an absolute, canonical path, whatever other calls may do; undefined if it may.
 */
export type ForbidsChange = (
  path: string,
  change: 'write' | 'delete',
  isNewDirectory: () => boolean,
) => string | undefined;

export interface ProgramOutcome
  extends Pick<
    CommandOutcome,
    | 'exitCode'
    | 'signal'
    | 'aborted'
    | 'survivors'
    | 'durationMs'
    | 'limit'
    | 'changes'
    | 'discarded'
    | 'discardedBy'
    | 'reruns'
    | 'discardedWrites'
  > {
  /** The whole output; with `overflow`, the first `maxOutputBytes`. */
  readonly stdout: Buffer;
  readonly stderr: KeptOutput;
  /** It wrote more than `maxOutputBytes` and was ended because of that. */
  readonly overflow: boolean;
  /** How it was confined. */
  readonly sandbox: CommandSandbox;
}

/** Runs a program and resolves when the program and everything it started have ended. */
export type RunProgram = (request: ProgramRequest) => Promise<ProgramOutcome>;
