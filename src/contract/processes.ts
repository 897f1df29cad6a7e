import type { CommandChanges, DeedsRefusal, DeedsReview, PreviewedChanges } from './changes.js';
import type { GuardedPaths } from './files.js';
import type { OutputSink } from './outputs.js';

/** What commands are kept inside by the operating system. Where it is left out, nothing is. */
export interface Confinement {
  /** `required`: without the sandbox no command runs. `preferred`: it runs plain, and its outcome says so. */
  readonly os: 'off' | 'preferred' | 'required';
  /** Whether commands reach the network. */
  readonly network: boolean;
  /** Canonical directories that commands may change. */
  readonly roots: readonly string[];
  /** Directories that they may read besides, absolute. */
  readonly readable: readonly string[];
  /** Directories inside the roots that this program goes by: no command changes them, nor makes them. Left out: none. */
  readonly own?: readonly string[];
  /** Whether a link leads to what this program goes by, now: no mount keeps a command from replacing it. */
  readonly ledByLink?: () => boolean;
  /** Asked for each command. `every`: also more than can be mounted over. */
  readonly guarded: (every?: 'every') => GuardedPaths;
  /** Left out: each command has a network namespace for itself, if the network is off. */
  readonly rooms?: RoomOwner;
  /** Commands that are run to their end change nothing before their changes are looked at. Left out: they write through. */
  readonly transactions?: TransactionRules;
}

/** Whose conversations have rooms: the commands of one share a loopback, if the network is off. */
export interface RoomOwner {
  /** Set with the first room: closes all of them. */
  end?: () => Promise<void>;
  /** No more rooms are opened. */
  isEnded?: boolean;
}

/** A port of a conversation's loopback that programs of this machine reach. */
export interface ExposedPort {
  /** As commands know it. */
  readonly port: number;
  /** On `127.0.0.1`, with the same port if that was free. */
  readonly url: string;
}

/** How the changes of a command are kept apart, and which of them become real. */
export interface TransactionRules {
  /** `required`: where it cannot be done no command runs. `auto`: then it writes through, and its outcome says so. */
  readonly mode: 'auto' | 'required';
  /** Absolute directories that changes may be kept in; the first that serves is taken. */
  readonly places: readonly string[];
  /** Of everything that one command changes, until it has ended. */
  readonly maxMb: number;
  /** What becomes of the changes of a command that was ended by its signal. */
  readonly onTimeout: 'discard' | 'keep';
  /**
   * What happens where others have changed the same while a command ran: it is run again on what is there now (`rerun`,
   * left out: that), nothing of it is kept (`fail`), or what is in no conflict is (`keep_rest`).
   */
  readonly onConflict?: 'rerun' | 'fail' | 'keep_rest';
  /** Why a deny pattern keeps a path, absolute and canonical, from being changed; undefined: none does. */
  readonly refusal: (path: string, change: 'write' | 'delete', isLink?: boolean) => string | undefined;
  /**
   * What leads to what this program goes by, in lower case: directories that may be absent, and links. Asked when a
   * command has ended. Left out: nothing does.
   */
  readonly ways?: (() => ReadonlySet<string>) | undefined;
  /** The same of the policy's rules. @param tool the name of the tool whose command changes it */
  readonly ruleRefusal: (
    path: string,
    change: 'write' | 'delete',
    tool: string | undefined,
  ) => string | undefined;
  /** Whether commands may not see what lies at a path. */
  readonly isHidden: (path: string) => boolean;
}

/** What has become of a transaction. With `network` it may have done more than change files. */
export type TransactionEvent =
  | { readonly state: 'begun'; readonly directory: string; readonly network: boolean }
  | {
      readonly state: 'committed' | 'discarded';
      readonly directory: string;
      readonly network: boolean;
      /** Of a command whose changes were made. */
      readonly exitCode?: number | null;
    };

/** What stood around a command. */
export interface CommandSandbox {
  readonly kind: 'bubblewrap' | 'none';
  readonly network: boolean;
  /** Why there is none, where one was wanted. */
  readonly reason?: string;
  /** What it has refused to a command that failed; known at the end. */
  readonly refused?: readonly SandboxRefusal[];
  /** There was more than could be guarded: some of what deny patterns hide could be seen. */
  readonly incomplete?: true;
  /** Whether all of it has ended cannot be known: what leaves its session, environment and files is not found here. */
  readonly unheld?: true;
  /** What another program replaced while it ran, so that nothing guarded it any more: the command was ended for that. */
  readonly lost?: readonly string[];
  /** Repositories that came while it ran, in which settings or hooks were switched off (`.disabled`). */
  readonly disarmed?: readonly string[];
  /** Whether its changes were kept apart until its end. */
  readonly transaction?: boolean;
  /** Why they were not, where that was wanted. */
  readonly transactionReason?: string;
}

/**
 * `network`: a connection; `name_lookup`: to find the address of a host; `write_outside`: to change what is read-only;
 * `hidden_file`: what a deny pattern hides, or what lies outside of the roots.
 */
export type SandboxRefusal = 'network' | 'name_lookup' | 'write_outside' | 'hidden_file';

/** What a command may use. What is left out is not limited. */
export interface CommandLimits {
  /** Of each process. */
  readonly cpuSeconds?: number | undefined;
  /** Private memory of each process. */
  readonly memoryMb?: number | undefined;
  /** Processes that run at a time, the shell included. */
  readonly processes?: number | undefined;
  /** Of each file. */
  readonly fileSizeMb?: number | undefined;
}

export interface LimitHit {
  readonly limit: keyof CommandLimits | 'transactionMb';
  readonly max: number;
}

/** One command to run to its end. */
export interface CommandRequest {
  /** Left out: nothing is. */
  readonly confinement?: Confinement;
  readonly limits?: CommandLimits;
  readonly shell: 'sh' | 'bash';
  readonly command: string;
  /** Its commands share a loopback, if the network is off. Left out: it has one for itself. */
  readonly conversation?: string;
  /** Absolute and canonical; the engine checks it against the roots. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Aborting it kills everything the command started. */
  readonly signal: AbortSignal;
  /** Live output, in order of arrival. A returned promise slows the command down until it resolves. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void | Promise<void>;
  /** Bytes of each stream that are kept: the first and the last half of it. */
  readonly keepBytes: number;
  /** Told, and waited for, before it is started: until then nothing of it can have happened. */
  readonly onStarting?: (transaction: TransactionEvent | undefined) => Promise<void>;
  /** Told when it runs. */
  readonly onStarted?: (process: StartedCommand) => void;
  /**
   * Opens what takes everything that comes of either stream, in order of arrival, once it is more than a result shows:
   * one for each time that the command is run.
   */
  readonly openWhole?: () => OutputSink;
  /** Absolute paths that it is known to change, as far as its text says so. Left out: not known. */
  readonly targets?: readonly string[];
  /** The same of what it reads. */
  readonly sources?: readonly string[];
  /** The tool that runs it, for rules about what it changes. */
  readonly tool?: string;
  /** Told what has become of its transaction, where it has one. */
  readonly onTransaction?: (event: TransactionEvent) => void;
  /**
   * Asked when it has ended, before its changes become real; where there are none it is not asked. With it the command runs only where its changes are kept apart.
   */
  readonly agree?: (changes: PreviewedChanges) => Promise<DeedsRefusal | undefined>;
  /**
   * Asked when it has ended and its changes were kept apart. Left out: they may be any. What goes beyond is asked about by
   * `agree` where that is given.
   */
  readonly deeds?: DeedsReview;
  /**
   * Whether a person has agreed to a new file or directory with a denied name, by its absolute path: asked when the changes
   * are looked at, and again when `agree` was asked. Left out: to none.
   */
  readonly mayCreate?: (path: string, isDirectory: boolean) => boolean;
  /** It needs no transaction: what it changes is real at once. Where one is required, or `agree` is given, it has one. */
  readonly writesThrough?: boolean;
  /** It runs only where its changes are kept apart. */
  readonly needsTransaction?: boolean;
  /** Keeps a version of a file that was not made real, and says where it can be read. */
  readonly keepVersion?: (bytes: Uint8Array) => string | undefined;
}

/** A process by its id and, where the system tells it, its start: ids are used again. */
export type StartedCommand = { readonly pid: number; readonly startTicks?: number };

/** What was kept of one stream. */
export interface KeptOutput {
  /** Decoded as UTF-8 (bad bytes become U+FFFD); where bytes were left out, the first part. */
  readonly head: string;
  /** The last part, empty when nothing was left out. */
  readonly tail: string;
  /** Everything that came, kept or not. */
  readonly totalBytes: number;
  readonly omittedBytes: number;
  /** It is no text: to be told, not to be shown. */
  readonly binary: boolean;
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
  /** Left out: not read. */
  readonly sandbox?: CommandSandbox;
  /** What ended it, or made it fail. */
  readonly limit?: LimitHit;
  /** Where everything can be read that was printed; left out where it was so little that it is all here. */
  readonly outputRef?: string;
  /** Left out: it had no transaction. */
  readonly changes?: CommandChanges;
  /** Its changes were not committed: why, in words. `changes` names what stood in the way, or says that there were none. */
  readonly discarded?: string;
  /**
   * The person did not agree to them or could not be asked, the policy does not allow them, others changed the same, or
   * commands may not change it. Left out: another reason.
   */
  readonly discardedBy?: 'person' | 'unasked' | 'policy' | 'conflict' | 'rules';
  /** How often it was run again, because others had changed the same things meanwhile. Left out: never. */
  readonly reruns?: number;
  /** What it has written outside of the roots, and what is gone with it; left out: nothing, or nothing was kept. */
  readonly discardedWrites?: DiscardedWrites;
}

/** What a command has written and what did not last, without the caches of programs. */
export interface DiscardedWrites {
  /** Absolute, escaped as in `CommandChanges`; an empty directory with `/` at its end. At most 200. */
  readonly paths: readonly string[];
  /** How many there are besides, at least. */
  readonly more?: number;
}

/** Runs a command and resolves when it has ended, with everything it started. */
export type RunCommand = (request: CommandRequest) => Promise<CommandOutcome>;

/** The life of a background shell (B043): the last four are ends, and an end is never left again. */
export type ShellStatus = 'pending' | 'running' | 'completed' | 'failed' | 'timeout' | 'killed';

/** A background shell as it is at one moment. */
export interface ShellSnapshot {
  /** `shell_` and a number that cannot be guessed. */
  readonly id: string;
  readonly command: string;
  readonly cwd: string;
  readonly status: ShellStatus;
  readonly isRunning: boolean;
  /** Null while it runs, and when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Until now, or until its end. */
  readonly durationMs: number;
  /** Process ids that could not be killed; empty as a rule. */
  readonly survivors: readonly number[];
  /** Left out: not read. */
  readonly sandbox?: CommandSandbox;
  /** What ended it, or made it fail. */
  readonly limit?: LimitHit;
}

/** What a shell has printed since it was read last. */
export interface ShellReading {
  readonly shell: ShellSnapshot;
  readonly stdout: ShellText;
  readonly stderr: ShellText;
}

export interface ShellText {
  readonly text: string;
  /** Bytes that were not read in time: they made room for newer ones. */
  readonly droppedBytes: number;
  readonly binary: boolean;
}

export interface ShellRequest {
  /** Left out: nothing is. */
  readonly confinement?: Confinement;
  readonly limits?: CommandLimits;
  /** As in `CommandRequest`. */
  readonly conversation?: string;
  readonly shell: 'sh' | 'bash';
  readonly command: string;
  /** Absolute and canonical. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** After this it is ended, and its status is `timeout`. Left out: it may run as long as its owner. */
  readonly timeoutMs?: number;
}

/** Background shells with one owner, who ends them all with `close`. */
export interface BackgroundShells {
  /** Resolves when it runs. @throws ToolError `spawn_failed`, `limit_exceeded`. */
  start(request: ShellRequest): Promise<ShellSnapshot>;
  find(id: string): ShellSnapshot | undefined;
  /** Only whole lines while the shell runs, if `wholeLines`. Undefined: there is no such shell. */
  read(id: string, options: { readonly wholeLines: boolean }): ShellReading | undefined;
  /** Ends it with everything it started, and resolves when that is done. A shell that has ended stays as it is. */
  kill(id: string): Promise<ShellSnapshot | undefined>;
  close(): Promise<void>;
}
