/** One command to run to its end. */
export interface CommandRequest {
  readonly shell: 'sh' | 'bash';
  readonly command: string;
  /** Absolute and canonical; the engine checks it against the roots. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Aborting it kills everything the command started. */
  readonly signal: AbortSignal;
  /** Live output, in order of arrival. A returned promise slows the command down until it resolves. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void | Promise<void>;
  /** Bytes of each stream that are kept: the first and the last half of it. */
  readonly keepBytes: number;
}

/** What was kept of one stream. */
export interface KeptOutput {
  /** Decoded as UTF-8 (bad bytes become U+FFFD); where bytes were left out, the first part. */
  readonly head: string;
  /** The last part, empty when nothing was left out. */
  readonly tail: string;
  /** Everything that came, kept or not. */
  readonly totalBytes: number;
  readonly omittedBytes: number;
}

export interface CommandOutcome {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  readonly durationMs: number;
  /** It was ended by `signal`. */
  readonly aborted: boolean;
  /** Process ids that could not be killed; empty as a rule. */
  readonly survivors: readonly number[];
}

/** Runs a command and resolves when it has ended, with everything it started. */
export type RunCommand = (request: CommandRequest) => Promise<CommandOutcome>;

/** What a tool gets of it: only commands that its effects declare. */
export interface ToolProcesses {
  run(request: {
    readonly shell: 'sh' | 'bash';
    readonly command: string;
    /** Inside the roots; default the working directory. */
    readonly cwd?: string;
    /** Bytes of each stream that are kept; default 1 MiB. */
    readonly keepBytes?: number;
  }): Promise<CommandOutcome>;
}
