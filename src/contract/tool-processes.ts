import type { ErrorCode } from '../errors/catalogue.js';
import type { JsonObject } from './json.js';
import type {
  AttachedStreams,
  CommandOutcome,
  ExposedPort,
  ShellReading,
  ShellSnapshot,
  StartedCommand,
} from './processes.js';
import type { ProgramOutcome, ProgramRequest } from './programs.js';

/** Process access for a tool: only the commands that its effects declare. */
export interface ToolProcesses {
  run(request: {
    readonly shell: 'sh' | 'bash';
    readonly command: string;
    /** Inside the roots. Default: the working directory. */
    readonly cwd?: string;
    /** How many bytes of each stream are kept. Default 1 MiB. */
    readonly keepBytes?: number;
    /**
     * For callers that show a part of the output: both ends are neutralized and redacted first, so a cut
     * cannot leave half of a secret. Default false: the output is unchanged.
     */
    readonly clean?: boolean;
    /** It has the standard streams of this program: for a tool that runs a command of the person's own. */
    readonly attached?: AttachedStreams;
    /**
     * Changes that may not be kept are left out and named, and the rest is kept. Default: nothing is kept.
     */
    readonly keepsRest?: boolean;
  }): Promise<CommandOutcome>;
  /** Starts a command in the background. It outlives the call and ends with the executor at the latest. */
  startShell(request: {
    readonly shell: 'sh' | 'bash';
    readonly command: string;
    readonly cwd?: string;
    readonly timeoutMs?: number;
  }): Promise<ShellSnapshot>;
  /**
   * Returns the new output; with `filter` (a regular expression, matched in linear time), only its matching
   * lines. It is neutralized and redacted, even if a secret is split between two reads. Only for a call that
   * declares `{ kind: 'process', id, access: 'read' }` or has started the shell itself. Undefined if the
   * shell does not exist.
   * @throws ToolError `sandbox_violation` for a shell that is not declared, `bad_args` for an invalid filter;
   * then nothing counts as read.
   */
  readShell(id: string, options?: { readonly filter?: string }): Promise<ShellReading | undefined>;
  /**
   * For callers that show parts of a text: stores all of it for `read_file` under `outputRef`, and returns it
   * neutralized and redacted, so a cut cannot leave half of a secret. Without `outputRef` it could not be
   * stored.
   */
  keepText(text: string): { readonly text: string; readonly outputRef?: string };
  /**
   * Conditions as for `readShell`. @throws ToolError `sandbox_violation` for a shell that is not declared.
   */
  findShell(id: string): ShellSnapshot | undefined;
  /**
   * Only for a call that declares `{ kind: 'process', id }` without `access`, or has started the shell
   * itself. Undefined if the shell does not exist.
   * @throws ToolError `sandbox_violation` for a shell that is not declared.
   */
  killShell(id: string): Promise<ShellSnapshot | undefined>;
  /**
   * Makes a port of the conversation's loopback reachable for programs on this machine, if the person agrees,
   * until the last command of the conversation ends. A text gives the reason why not.
   */
  exposePort(port: number): Promise<ExposedPort | string>;
  /**
   * The environment that commands see: without secrets, as configured.
   * @param options `maxAgeMs`: the maximum age of a cached copy; default 0.
   */
  environment(options?: { readonly maxAgeMs?: number }): Readonly<Record<string, string>>;
  /** Whether the program of this tool runs in the OS sandbox. */
  isConfined(): boolean;
  /**
   * Runs the tool's program (`program` in its declaration) to its end, in the OS sandbox if that is
   * configured for such programs. There its changes run in a transaction like those of commands, and
   * undeclared changes are not committed.
   * @throws ToolError `spawn_failed`; `sandbox_violation` for a tool that is not a program.
   */
  runProgram(program: ProgramStart): Promise<ToldProgram>;
  /**
   * For a tool that starts its own process. Until `run` ends, the call owns a process and waits for its end
   * (2.5 s) when it is stopped. Notes are recorded: after a crash they show which process was left running.
   */
  track<T>(run: (note: (process: ProcessNote) => void) => Promise<T>): Promise<T>;
}

/** First the start of the process, then its end. */
export type ProcessNote = StartedCommand & {
  readonly exitCode?: number | null;
  readonly signal?: string | null;
};

/** The tool's part of a program request. The executor adds the rest. */
export type ProgramStart = Pick<
  ProgramRequest,
  | 'file'
  | 'args'
  | 'cwd'
  | 'env'
  | 'input'
  | 'signal'
  | 'maxOutputBytes'
  | 'keepErrorBytes'
  | 'onOutput'
  | 'onRerun'
>;

/** The end of the program, with the sandbox and the changes for the result. */
export interface ToldProgram extends ProgramOutcome {
  /** Lines for the model; empty if there are none. */
  readonly notice: string;
  readonly metadata: JsonObject;
  /**
   * Why the call failed although the program may report success: its changes were dropped, or it reached a
   * limit.
   */
  readonly fault?: {
    readonly code: ErrorCode;
    /** A clause, to be put into a sentence. */
    readonly why: string;
    readonly hint?: string;
  };
}
