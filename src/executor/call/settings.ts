import type { AgentRunner } from '../../contract/agent-runner.js';
import type { Approver, Reviewer } from '../../contract/approval.js';
import type { CommandChanges, PreviewedChanges } from '../../contract/changes.js';
import type { Clock, Logger, Middleware } from '../../contract/context.js';
import type { Executor, ExecutorMode } from '../../contract/executor.js';
import type { Sandbox } from '../../contract/files.js';
import type { Dispatcher } from '../../contract/fleet.js';
import type { Journal, Placement, Worker } from '../../contract/journal.js';
import type { Origin, OriginView } from '../../contract/origin.js';
import type { OutputStore } from '../../contract/outputs.js';
import type { DecisionObserver, Policy, PolicyQuestion } from '../../contract/policy.js';
import type { BackgroundShells, Confinement, ExposedPort, RunCommand } from '../../contract/processes.js';
import type { RunProgram } from '../../contract/programs.js';
import type { Asker } from '../../contract/question.js';
import type { ContainedSearch } from '../../contract/search.js';
import type { Telemetry } from '../../contract/telemetry.js';
import type { Registry, TimeoutClass } from '../../contract/tool.js';
import type { ToolError } from '../../errors/tool-error.js';
import type { EventHooks } from '../../hooks/event-hooks.js';
import type { Limited, TimeLimits } from '../../platform/clock/time-limits.js';
import type { AnalyzeCommand } from '../../policy/shell/analysis.js';
import type { LruResultCache } from '../cache/create-result-cache.js';
import type { OnUnhandledError } from './unhandled-errors.js';

export interface CallLimits {
  readonly maxToolCallsPerBatch: number;
  /**
   * The limit of rounds for a loop around a model. The executor itself runs batches and does not count
   * rounds.
   */
  readonly maxToolIterationsPerUserTurn: number;
  readonly maxToolArgsBytes: number;
  readonly maxApplyPatchBytes: number;
  readonly maxReadFileScanBytes: number;
  readonly maxFileReadBytes: number;
}

export interface ClassTimeout {
  readonly ms: number;
  /** The configuration names this timeout, so it takes precedence over a tool's own default (F003). */
  readonly explicit: boolean;
}

/** `fine`: no objection. `ask`: only with a person's consent. `refuse`: not even with consent. */
export type CommandSandboxVerdict =
  | { readonly kind: 'fine' }
  | { readonly kind: 'ask'; readonly reason: string }
  | { readonly kind: 'refuse'; readonly error: ToolError };

export interface CommandGuard {
  /**
   * The verdict as far as it is known without a test. @param isThrough true if the command is known to write through
   */
  known(isThrough: boolean): CommandSandboxVerdict | undefined;
  /** Tests the sandbox, once per process. Never rejects. */
  look(isThrough: boolean): Promise<CommandSandboxVerdict>;
  /** Whether commands must not run without the command sandbox, even if the person agrees. */
  readonly isRequired: boolean;
  /** The sandbox around commands, as far as it is known without a test. */
  standing(): StandingSandbox | undefined;
  /** Tests the sandbox, unless it was tested a moment ago. Never rejects. */
  lookAround(): Promise<StandingSandbox>;
}

/** The sandbox for the next command. */
export interface StandingSandbox {
  /** The command runs in the OS sandbox. */
  readonly stands: boolean;
  /** Every file that deny patterns name is hidden from the command, even if the command writes through. */
  readonly hidesAll: boolean;
  /** A command in the foreground runs in a transaction. */
  readonly transaction: boolean;
  readonly network: boolean;
}

/** Explains why no change of a preview was committed. */
export interface NothingMade {
  readonly why: string;
  /** Other processes changed the same files. */
  readonly isConflict: boolean;
  /** The conflicting paths. */
  readonly changes?: CommandChanges;
}

export interface PreviewWorld {
  readonly sandbox: Sandbox;
  readonly search: ContainedSearch;
  readonly runCommand: RunCommand;
  readonly runProgram: RunProgram;
  /** The directory that holds the changes. */
  readonly directory: string;
  /** Paths of changes are relative to this root. */
  readonly root: string;
  /** Called when a tool has ended that changes files directly. */
  fileToolEnded(): Promise<void>;
  /** All changes of the preview so far. */
  look(): Promise<PreviewedChanges>;
  /**
   * Commits the changes.
   * @param begin runs to its end before any file is changed
   * @returns the committed changes and those that could not be written; or why nothing was committed
   */
  commit(begin: () => Promise<void>): Promise<CommandChanges | NothingMade>;
  discard(): Promise<void>;
}

// The settings of an executor are complete: a member that always has a value is never optional. Each step
// gets only its part.

/** The settings that every step needs. */
export interface CommonSettings {
  readonly mode: ExecutorMode;
  readonly logger: Logger;
  /** Undefined: there is no tracing, and it costs nothing. */
  readonly telemetry?: Telemetry | undefined;
  readonly clock: Clock;
  /** Creates a unique, time-ordered id. */
  readonly createId: () => string;
}

/** The tools and the limits of their calls. */
export interface ToolSettings {
  readonly registry: Registry;
  readonly limits: CallLimits;
  readonly timeouts: Readonly<Record<TimeoutClass, ClassTimeout>>;
}

/** The contained files, and the stored outputs, which tools read like files. */
export interface FileSettings {
  readonly sandbox: Sandbox;
  readonly covers: (outer: string, inner: string) => boolean;
  /** Stores outputs that are too long for a result. */
  readonly outputs: OutputStore;
}

/** The policy, and the helpers with which it understands a call. */
export interface PolicySettings {
  /** Null: there is no policy. */
  readonly policy: Policy | null;
  /**
   * Loads the command analysis before the policy is asked about a command. Undefined: it is already loaded.
   */
  readonly loadAnalysis: () => Promise<void> | undefined;
  /** May be called only after `loadAnalysis`. */
  readonly analyze: AnalyzeCommand;
  /** Called with every decision of the policy. */
  readonly onDecision: DecisionObserver | undefined;
  /** For the policy: the sub-agent that makes the calls of this run. */
  readonly agent?: string | undefined;
  /** For the policy: finds the place of a path that a command names. */
  readonly locator: Required<
    Pick<PolicyQuestion, 'locate' | 'refusal' | 'expand' | 'hiddenBelow' | 'laterNames'>
  >;
  /**
   * The origins of the conversation whose calls are planned. Undefined: there are none that a policy could
   * read.
   */
  readonly origins?: OriginView | undefined;
  /** Only for a sub-agent. */
  readonly lineage?: AgentLineage | undefined;
}

/** How the origins of data pass between a sub-agent and the call that runs it. */
export interface AgentLineage {
  /** The prompt, with the origins of the text in it. Left out: it holds no text from elsewhere. */
  readonly prompt?: { readonly callId: string; readonly origin: readonly Origin[]; readonly text: string };
  /** Called with the origins of each result that the sub-agent sees. */
  readonly saw: (origin: readonly Origin[]) => void;
}

/** The effect of the command sandbox on a call. */
export interface ContainmentSettings {
  /** Which external tools run in the command sandbox, and with which confinement. */
  readonly programs: { readonly which: 'off' | 'untrusted' | 'all'; readonly confinement: Confinement };
  /** Gives the verdict of the command sandbox on a call that runs a command. */
  readonly commandGuard: CommandGuard;
  /** Commands should run in the OS sandbox, without network, and change nothing before they end. */
  readonly keepsCommandsApart: boolean;
  /** `contained`: such commands run without a question, and the person is asked about unexpected changes. */
  readonly profile: 'none' | 'contained';
  /**
   * Like `keepsCommandsApart`, for a command that itself requires the OS sandbox because its question comes after its
   * end.
   */
  readonly mayKeepApart: boolean;
  /** Whether this machine supports transactions. */
  readonly canKeepApart: () => Promise<boolean>;
}

/** The journal, and the process that writes to it. */
export interface JournalSettings {
  /** Null: nothing is recorded. */
  readonly journal: Journal | null;
  readonly worker: Worker;
  /** Whether exactly the process that the journal names is alive. */
  readonly isWorkerAlive: (worker: Worker) => boolean;
  /** Whether this process was started by the worker, or by a process that the worker started. */
  readonly isWorkerAncestor: (worker: Worker) => boolean;
  /** The workers that may run the calls. Undefined: this process runs them. */
  readonly placement: Placement | undefined;
  /** The maximum number of open calls of the tenant. Undefined: no limit. */
  readonly openQuota: number | undefined;
  /** Carries hints to those workers. */
  readonly dispatcher: Dispatcher | undefined;
}

/** The settings for cleaning and cutting results. */
export interface ResultSettings extends Pick<FileSettings, 'outputs'> {
  /**
   * Exact values that must never appear in a result: those of removed environment variables. More can be
   * added while calls run.
   */
  readonly secretValues: readonly string[];
  readonly maxOutputBytes: number;
  /** Limit in bytes for the pictures, sounds and documents of one result. */
  readonly maxContentBytes: number;
}

/** The parts that answer questions. */
export interface PersonSettings {
  readonly reviewers: readonly Reviewer[];
  /** The user's programs that receive questions, refusals, batches and turns. */
  readonly hooks: EventHooks;
  /** Null: confirmation is skipped, on purpose. Undefined: there is no person to ask. */
  readonly approver: Approver | null | undefined;
  /** Asked while a call runs, and by a call's sub-agents. */
  readonly lateApprover: Approver | null | undefined;
  /** Answers the questions of tools. Undefined: there is no person. */
  readonly asker: Asker | undefined;
}

/** How commands and programs run. */
export interface CommandSettings {
  readonly runCommand: RunCommand;
  readonly runProgram: RunProgram;
  /** Undefined: ports cannot be exposed. */
  readonly exposePort?: ((conversation: string, port: number) => Promise<ExposedPort | string>) | undefined;
  /**
   * The background shells of this executor, for all its conversations. Any caller that knows a shell's id may
   * use the shell.
   */
  readonly shells: BackgroundShells;
  /** The sanitised environment of commands. `isAttended`: a person is at the terminal of the command. */
  readonly commandEnvironment: (options?: {
    readonly maxAgeMs?: number;
    readonly isAttended?: boolean;
  }) => Readonly<Record<string, string>>;
}

/** How sub-agents run. */
export interface AgentSettings {
  /** Runs sub-agents. Undefined: there are no sub-agents. */
  readonly agents: AgentRunner | undefined;
  /** The depth of this agent; the conversation itself has depth 0. */
  readonly depth: number;
  /** Creates an executor with other settings. It is part of this executor and closes with it. */
  readonly partOf: (settings: ExecutorSettings) => Executor;
}

/** The settings for planning a call. */
export interface PlanSettings
  extends CommonSettings,
    ToolSettings,
    FileSettings,
    PolicySettings,
    ContainmentSettings,
    ResultSettings,
    Pick<JournalSettings, 'journal'> {}

/** The settings for asking about calls, which are planned again if their arguments or files change. */
export interface ApprovalSettings extends PlanSettings, PersonSettings {}

/** The settings for recording a batch and its calls. */
export interface RecordSettings
  extends CommonSettings,
    JournalSettings,
    Pick<ToolSettings, 'timeouts'>,
    Pick<FileSettings, 'covers'>,
    Pick<ContainmentSettings, 'programs'> {}

/** The settings for answering calls of a dead process. */
export interface RecoverySettings extends PlanSettings, JournalSettings {
  /** Whether this process could see that the worker is alive. */
  readonly isWorkerVisible: (worker: Worker) => boolean;
  readonly isProcessAlive: (pid: number, startTicks?: number) => boolean;
}

/** The settings for running a tool. */
export interface ExecutionSettings extends ApprovalSettings, RecordSettings, CommandSettings, AgentSettings {
  readonly middleware: readonly Middleware[];
  /** Null: results are not cached. */
  readonly cache: LruResultCache | null;
  /** Time limits of the running calls, measured by the clock of these settings. */
  readonly timeLimits: TimeLimits<Limited>;
  readonly search: ContainedSearch;
}

/** All settings of an executor. */
export interface ExecutorSettings extends ExecutionSettings, RecoverySettings {
  /** @throws ToolError `sandbox_violation` if this machine cannot keep changes apart */
  readonly openPreview: () => Promise<PreviewWorld>;
  readonly onUnhandledError: OnUnhandledError;
}
