import type { ChosenPaths, CommandChanges, DeedsRefusal, DeedsReview, PreviewedChanges } from './changes.js';
import type { GuardedPaths, RootsRead } from './files.js';
import type { OutputSink } from './outputs.js';

/** How the operating system confines commands. If absent: not at all. */
export interface Confinement {
  /**
   * `required`: no command runs without the sandbox. `preferred`: it runs without one, and its outcome says
   * so.
   */
  readonly os: 'off' | 'preferred' | 'required';
  /** Whether commands can reach the network. */
  readonly network: boolean;
  /** Canonical directories that commands may change. */
  readonly roots: readonly string[];
  /** Absolute directories that they may also read. */
  readonly readable: readonly string[];
  /**
   * Directories inside the roots that toolexec itself depends on. Commands can neither change nor create
   * them. If absent: none.
   */
  readonly own?: readonly string[];
  /** Whether a link currently leads to files that toolexec depends on. No mount can protect such a link. */
  readonly ledByLink?: () => boolean;
  /** Called for each command. `every`: also returns paths beyond the number that can be mounted over. */
  readonly guarded: (every?: 'every', read?: RootsRead) => GuardedPaths;
  /** As in `Sandbox`. If absent: nothing to read. */
  readonly readAhead?: () => Promise<RootsRead | undefined>;
  /** If absent: with the network off, each command has its own network namespace. */
  readonly rooms?: RoomOwner;
  /**
   * With rules, the changes of a finished command are checked before they are committed. If absent: commands
   * write through.
   */
  readonly transactions?: TransactionRules;
}

/**
 * Owns the network namespaces of conversations: with the network off, the commands of a conversation share a
 * loopback.
 */
export interface RoomOwner {
  /** Set when the first one is opened: closes all of them. */
  end?: () => Promise<void>;
  /** No more can be opened. */
  isEnded?: boolean;
}

/** A port of a conversation's loopback that programs on this machine can reach. */
export interface ExposedPort {
  /** The port number inside. */
  readonly port: number;
  /** On `127.0.0.1`, with the same port number if it was free. */
  readonly url: string;
}

/** How a command's changes are captured, and which of them are committed. */
export interface TransactionRules {
  /**
   * `required`: no command runs without a transaction. `auto`: it writes through, and its outcome says so.
   */
  readonly mode: 'auto' | 'required';
  /** Absolute directories for captured changes. The first usable one is taken. */
  readonly places: readonly string[];
  /** Size limit for the changes of one command. */
  readonly maxMb: number;
  /** Whether to commit the changes of a command that was ended by its signal. */
  readonly onTimeout: 'discard' | 'keep';
  /**
   * If another program changed the same paths while a command ran: run it again on the new state (`rerun`,
   * the default), keep nothing (`fail`), or commit the changes without a conflict (`keep_rest`).
   */
  readonly onConflict?: 'rerun' | 'fail' | 'keep_rest';
  /** The deny pattern that forbids changing an absolute, canonical path; undefined if none does. */
  readonly refusal: (path: string, change: 'write' | 'delete', isLink?: boolean) => string | undefined;
  /**
   * The paths on the way to files that toolexec depends on, in lower case: directories, which may be missing,
   * and links. Called when a command has ended. If absent: none.
   */
  readonly ways?: (() => ReadonlySet<string>) | undefined;
  /** Like `refusal`, for the policy's rules. @param tool the tool whose command makes the change */
  readonly ruleRefusal: (
    path: string,
    change: 'write' | 'delete',
    tool: string | undefined,
  ) => string | undefined;
  /** Whether commands may not see this path. */
  readonly isHidden: (path: string) => boolean;
}

/**
 * A command that uses this program's standard streams, so its output is not captured. `terminal`: it is
 * interactive and gets a new terminal device, connected to ours. `output: 'error'`: its standard output goes
 * to our standard error. `isAttended`: a person is in front of it, so it may page, prompt and open an editor.
 */
export interface AttachedStreams {
  readonly kind: 'terminal' | 'streams';
  readonly output?: 'error';
  readonly isAttended: boolean;
}

/** The outcome of a transaction. With `network`, the command may have had effects beyond files. */
export type TransactionEvent =
  | { readonly state: 'begun'; readonly directory: string; readonly network: boolean }
  | {
      readonly state: 'committed' | 'discarded';
      readonly directory: string;
      readonly network: boolean;
      /** The exit code of a command whose changes were committed. */
      readonly exitCode?: number | null;
    };

/** How a command was confined. */
export interface CommandSandbox {
  readonly kind: 'bubblewrap' | 'none';
  readonly network: boolean;
  /** Why there was no sandbox, if one was wanted. */
  readonly reason?: string;
  /** The refusals of the sandbox to a failed command. Known at its end. */
  readonly refused?: readonly SandboxRefusal[];
  /** There were too many paths to protect, so the command could see some that deny patterns hide. */
  readonly incomplete?: true;
  /**
   * It is not known whether all its processes have ended: a process that leaves the session, environment and
   * files cannot be found here.
   */
  readonly unheld?: true;
  /**
   * Protected paths that another program replaced while the command ran. The command was ended because of
   * that.
   */
  readonly lost?: readonly string[];
  /** Repositories that appeared while it ran, and whose settings or hooks were disabled (`.disabled`). */
  readonly disarmed?: readonly string[];
  /** Whether its changes were captured until its end. */
  readonly transaction?: boolean;
  /** Why they were not, if that was wanted. */
  readonly transactionReason?: string;
}

/**
 * `network`: a connection. `name_lookup`: the address of a host. `write_outside`: a write to a read-only
 * path. `hidden_file`: a path that a deny pattern hides, or that lies outside the roots.
 */
export type SandboxRefusal = 'network' | 'name_lookup' | 'write_outside' | 'hidden_file';

/** Resource limits of a command. No entry means no limit. */
export interface CommandLimits {
  /** Processor time of each process. */
  readonly cpuSeconds?: number | undefined;
  /** Private memory of each process. */
  readonly memoryMb?: number | undefined;
  /** Processes at a time, including the shell. */
  readonly processes?: number | undefined;
  /** The size of each file. */
  readonly fileSizeMb?: number | undefined;
}

export interface LimitHit {
  readonly limit: keyof CommandLimits | 'transactionMb';
  readonly max: number;
}

/** One command to run to its end. */
export interface CommandRequest {
  /** If absent: not confined. */
  readonly confinement?: Confinement;
  readonly limits?: CommandLimits;
  readonly shell: 'sh' | 'bash';
  readonly command: string;
  /**
   * With the network off, commands of one conversation share a loopback. If absent: the command has its own.
   */
  readonly conversation?: string;
  /** Absolute and canonical. The caller has checked it against the roots. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Aborting it kills the command and everything it started. */
  readonly signal: AbortSignal;
  /** Live output in order of arrival. A returned promise slows the command until it resolves. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void | Promise<void>;
  /** How many bytes of each stream are kept: half from its start, half from its end. */
  readonly keepBytes: number;
  /** Called and awaited before the command starts. Before that, it cannot have had any effect. */
  readonly onStarting?: (transaction: TransactionEvent | undefined) => Promise<void>;
  /** Called when the command runs. */
  readonly onStarted?: (process: StartedCommand) => void;
  /**
   * Opens a sink for all output of both streams, in order of arrival. Called for each run if the output is
   * larger than a result shows.
   */
  readonly openWhole?: () => OutputSink;
  /** Absolute paths that the command's text says it changes. If absent: unknown. */
  readonly targets?: readonly string[];
  /** Absolute paths that the command's text says it reads. If absent: unknown. */
  readonly sources?: readonly string[];
  /** The tool that runs it, for rules about changes. */
  readonly tool?: string;
  /** Called with the outcome of its transaction, if it has one. */
  readonly onTransaction?: (event: TransactionEvent) => void;
  /**
   * Asked when the command has ended with changes, before they are committed. With it, the command runs only
   * in a transaction.
   */
  readonly agree?: (changes: PreviewedChanges) => Promise<DeedsRefusal | ChosenPaths | undefined>;
  /**
   * Checks the changes of a command that ended in a transaction. If absent: every change is allowed. Changes
   * beyond the permission are asked about by `agree`, if that is given.
   */
  readonly deeds?: DeedsReview;
  /**
   * Whether the person approved a new file or directory with a denied name, given its absolute path. Called
   * when the changes are checked, and again after `agree`. If absent: none is approved.
   */
  readonly mayCreate?: (path: string, isDirectory: boolean) => boolean;
  /**
   * The command needs no transaction: its changes take effect at once. If a transaction is required, or
   * `agree` is given, it has one nevertheless.
   */
  readonly writesThrough?: boolean;
  /** The command runs only in a transaction. */
  readonly needsTransaction?: boolean;
  /** Changes that are refused or in conflict are left out and reported; the rest is committed. */
  readonly keepsRest?: boolean;
  /** If absent: the command has no input, and its output is captured. */
  readonly attached?: AttachedStreams;
  /** Stores a version of a file that was not committed, and returns its reference. */
  readonly keepVersion?: (bytes: Uint8Array) => string | undefined;
}

/** A process by its id and, if the system reports it, its start time, because ids are reused. */
export type StartedCommand = { readonly pid: number; readonly startTicks?: number };

/** The kept part of one stream. */
export interface KeptOutput {
  /** Decoded as UTF-8 (invalid bytes become U+FFFD). The first part, if bytes were left out. */
  readonly head: string;
  /** The last part; empty if nothing was left out. */
  readonly tail: string;
  /** All bytes that were written, kept or not. */
  readonly totalBytes: number;
  readonly omittedBytes: number;
  /** The output is not text and should not be shown. */
  readonly binary: boolean;
}

export interface CommandOutcome {
  /** Null if a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  readonly durationMs: number;
  /** `signal` ended it. */
  readonly aborted: boolean;
  /** Process ids that could not be killed; usually empty. */
  readonly survivors: readonly number[];
  /** If absent: unknown. */
  readonly sandbox?: CommandSandbox;
  /** The limit that ended it or made it fail. */
  readonly limit?: LimitHit;
  /** The URI of the full output. Absent if all of it is here. */
  readonly outputRef?: string;
  /** If absent: it had no transaction. */
  readonly changes?: CommandChanges;
  /**
   * Why its changes were not committed, in words. `changes` names the paths that prevented it, or says that
   * there were none.
   */
  readonly discarded?: string;
  /**
   * The person refused or could not be asked, the policy refused, another program changed the same paths, or
   * commands may not change a path. If absent: another reason.
   */
  readonly discardedBy?: 'person' | 'unasked' | 'policy' | 'conflict' | 'rules';
  /** How many times it was run again because of a conflict. If absent: never. */
  readonly reruns?: number;
  /** Writes outside the roots that were lost. If absent: none, or nothing was committed. */
  readonly discardedWrites?: DiscardedWrites;
}

/** Writes of a command that were lost, without the caches of programs. */
export interface DiscardedWrites {
  /** Absolute, escaped as in `CommandChanges`; an empty directory ends with `/`. At most 200. */
  readonly paths: readonly string[];
  /** The number of further paths, at least. */
  readonly more?: number;
}

/** Runs a command and resolves when the command and everything it started have ended. */
export type RunCommand = (request: CommandRequest) => Promise<CommandOutcome>;

/** The states of a background shell (B043). The last four are final. */
export type ShellStatus = 'pending' | 'running' | 'completed' | 'failed' | 'timeout' | 'killed';

/** The state of a background shell at one moment. */
export interface ShellSnapshot {
  /** `shell_` and an unguessable number. */
  readonly id: string;
  readonly command: string;
  readonly cwd: string;
  readonly status: ShellStatus;
  readonly isRunning: boolean;
  /** Null while it runs, and if a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Until now, or until its end. */
  readonly durationMs: number;
  /** Process ids that could not be killed; usually empty. */
  readonly survivors: readonly number[];
  /** If absent: unknown. */
  readonly sandbox?: CommandSandbox;
  /** The limit that ended it or made it fail. */
  readonly limit?: LimitHit;
}

/** The output of a shell since the last read. */
export interface ShellReading {
  readonly shell: ShellSnapshot;
  readonly stdout: ShellText;
  readonly stderr: ShellText;
}

export interface ShellText {
  readonly text: string;
  /** Bytes that were dropped for newer ones before they were read. */
  readonly droppedBytes: number;
  readonly binary: boolean;
}

export interface ShellRequest {
  /** If absent: not confined. */
  readonly confinement?: Confinement;
  readonly limits?: CommandLimits;
  /** As in `CommandRequest`. */
  readonly conversation?: string;
  readonly shell: 'sh' | 'bash';
  readonly command: string;
  /** Absolute and canonical. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** It is ended after this time with status `timeout`. If absent: it may run as long as its owner. */
  readonly timeoutMs?: number;
}

/** Background shells of one owner. `close` ends them all. */
export interface BackgroundShells {
  /** Resolves when the shell runs. @throws ToolError `spawn_failed`, `limit_exceeded`. */
  start(request: ShellRequest): Promise<ShellSnapshot>;
  find(id: string): ShellSnapshot | undefined;
  /**
   * With `wholeLines`, returns only complete lines while the shell runs. Undefined if the shell does not
   * exist.
   */
  read(id: string, options: { readonly wholeLines: boolean }): ShellReading | undefined;
  /**
   * Ends the shell and everything it started, and resolves when that is done. Does nothing to a shell that
   * has ended.
   */
  kill(id: string): Promise<ShellSnapshot | undefined>;
  close(): Promise<void>;
}
