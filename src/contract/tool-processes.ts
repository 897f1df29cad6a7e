import type { ErrorCode } from '../errors/catalogue.js';
import type { JsonObject } from './json.js';
import type {
  CommandOutcome,
  ExposedPort,
  ShellReading,
  ShellSnapshot,
  StartedCommand,
} from './processes.js';
import type { ProgramOutcome, ProgramRequest } from './programs.js';

/** What a tool gets of it: only commands that its effects declare. */
export interface ToolProcesses {
  run(request: {
    readonly shell: 'sh' | 'bash';
    readonly command: string;
    /** Inside the roots; default the working directory. */
    readonly cwd?: string;
    /** Bytes of each stream that are kept; default 1 MiB. */
    readonly keepBytes?: number;
    /**
     * For callers that show a part of it: both ends come neutralised and redacted, as results are, so that a cut leaves no
     * half of a secret. Default false: as it was printed.
     */
    readonly clean?: boolean;
  }): Promise<CommandOutcome>;
  /** The same in the background: it outlives the call, and ends at the latest with the executor. */
  startShell(request: {
    readonly shell: 'sh' | 'bash';
    readonly command: string;
    readonly cwd?: string;
    readonly timeoutMs?: number;
  }): Promise<ShellSnapshot>;
  /**
   * What is new, of the lines that `filter` (a regular expression, matched in linear time) matches, if it is given;
   * neutralised and cleared of known secrets, also where they are cut between two readings.
   * Only for a call that declares `{ kind: 'process', id, access: 'read' }`, or that has started the shell itself.
   * Undefined: there is no such shell.
   * @throws ToolError `sandbox_violation` for a shell that is not declared, `bad_args` for a filter that is not a
   * regular expression; then nothing counts as read.
   */
  readShell(id: string, options?: { readonly filter?: string }): Promise<ShellReading | undefined>;
  /**
   * For callers that show only parts of a text: keeps all of it for `read_file`, under `outputRef`, and gives it neutralised
   * and redacted, as results are, so that no cut leaves half of a secret. Without `outputRef` it could not be kept.
   */
  keepText(text: string): { readonly text: string; readonly outputRef?: string };
  /** As `readShell`. @throws ToolError `sandbox_violation` for a shell that is not declared. */
  findShell(id: string): ShellSnapshot | undefined;
  /**
   * Only for a call that declares `{ kind: 'process', id }` without `access`, or that has started the shell itself.
   * Undefined: there is no such shell.
   * @throws ToolError `sandbox_violation` for a shell that is not declared.
   */
  killShell(id: string): Promise<ShellSnapshot | undefined>;
  /**
   * Lets programs of this machine reach a port of the loopback that the commands of the conversation share, if the person
   * agrees: until none of them runs any more. A text: why not.
   */
  exposePort(port: number): Promise<ExposedPort | string>;
  /**
   * What commands see of this program's environment: without secrets, as it is configured.
   * @param options `maxAgeMs`: it may have been read so long ago; default 0.
   */
  environment(options?: { readonly maxAgeMs?: number }): Readonly<Record<string, string>>;
  /** Whether the program that the tool is runs in the OS sandbox. */
  isConfined(): boolean;
  /**
   * Runs the program that the tool is (`program` in its declaration) to its end, in the OS sandbox where that is wanted of
   * such programs: then its changes are kept apart as those of commands are, and what the call has not declared stays as
   * it was.
   * @throws ToolError `spawn_failed`; `sandbox_violation` for a tool that is not a program.
   */
  runProgram(program: ProgramStart): Promise<ToldProgram>;
  /**
   * For a tool that starts a process of its own: until `run` has come to its end the call has a process, whose end is
   * waited for (2.5 s) when the call is stopped. What it notes is recorded: after a crash it says what was left running.
   */
  track<T>(run: (note: (process: ProcessNote) => void) => Promise<T>): Promise<T>;
}

/** First with its start, then with how it ended. */
export type ProcessNote = StartedCommand & {
  readonly exitCode?: number | null;
  readonly signal?: string | null;
};

/** What a tool says of its program; the rest the engine knows. */
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

/** How it has ended, and what a result says of the sandbox around it and of its changes. */
export interface ToldProgram extends ProgramOutcome {
  /** For the model: lines; empty where there is nothing to say. */
  readonly notice: string;
  readonly metadata: JsonObject;
  /** Why the call has failed, whatever the program says: its changes were dropped, or it has hit a limit. */
  readonly fault?: {
    readonly code: ErrorCode;
    /** A clause. */
    readonly why: string;
    readonly hint?: string;
  };
}
