import type { CommandOutcome, CommandRequest, CommandSandbox, Confinement, KeptOutput } from './processes.js';

/** One program to run to its end, without a shell; in the command sandbox where `confinement` says so. */
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
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
  /** All of its standard input. */
  readonly input: string;
  /** Of standard output; a program that writes more is ended. */
  readonly maxOutputBytes: number;
  /** Of standard error: the first and the last half are kept. */
  readonly keepErrorBytes: number;
  readonly onOutput?: ((stream: 'stdout' | 'stderr', chunk: Uint8Array) => void | Promise<void>) | undefined;
  /** Called before it is run again, because others have changed the same things meanwhile: what came so far does not count. */
  readonly onRerun?: () => void;
  /** Left out: it may touch what the user may. */
  readonly confinement?: Confinement | undefined;
  readonly forbids?: ForbidsChange | undefined;
}

/**
 * Of a path, absolute and canonical, why the call itself may not have it changed, whatever holds for other calls;
 * undefined: it may.
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
  /** Whole, unless `overflow`: then its first `maxOutputBytes`. */
  readonly stdout: Buffer;
  readonly stderr: KeptOutput;
  /** It wrote more than `maxOutputBytes`, and was ended for it. */
  readonly overflow: boolean;
  /** What stood around it. */
  readonly sandbox: CommandSandbox;
}

/** Runs a program and resolves when it has ended, with everything it started. */
export type RunProgram = (request: ProgramRequest) => Promise<ProgramOutcome>;
