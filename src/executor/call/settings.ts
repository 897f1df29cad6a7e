import type { AgentRunner } from '../../contract/agent-runner.js';
import type { Approver, Reviewer } from '../../contract/approval.js';
import type { CommandChanges, PreviewedChanges } from '../../contract/changes.js';
import type { Clock, Logger, Middleware } from '../../contract/context.js';
import type { Executor, ExecutorMode } from '../../contract/executor.js';
import type { Sandbox } from '../../contract/files.js';
import type { Journal, Worker } from '../../contract/journal.js';
import type { OriginView } from '../../contract/origin.js';
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
  /** For a loop around a model: how many rounds. The executor itself runs batches and counts no rounds. */
  readonly maxToolIterationsPerUserTurn: number;
  readonly maxToolArgsBytes: number;
  readonly maxApplyPatchBytes: number;
  readonly maxReadFileScanBytes: number;
  readonly maxFileReadBytes: number;
}

export interface ClassTimeout {
  readonly ms: number;
  /** Named by the configuration: then it beats a tool's own default (F003). */
  readonly explicit: boolean;
}

/** `fine`: nothing more to say. `ask`: only with a person's consent. `refuse`: no consent helps. */
export type CommandSandboxVerdict =
  | { readonly kind: 'fine' }
  | { readonly kind: 'ask'; readonly reason: string }
  | { readonly kind: 'refuse'; readonly error: ToolError };

export interface CommandGuard {
  /** As far as it is known without looking. @param isThrough it is known that the command writes through */
  known(isThrough: boolean): CommandSandboxVerdict | undefined;
  /** Tries it, once for a process. Never rejects. */
  look(isThrough: boolean): Promise<CommandSandboxVerdict>;
  /** Whether commands must not run without the command sandbox, whatever the person decides. */
  readonly isRequired: boolean;
  /** What stands around commands, as far as it is known without looking. */
  standing(): StandingSandbox | undefined;
  /** Looks, where that was not done a moment ago. Never rejects. */
  lookAround(): Promise<StandingSandbox>;
}

/** What stands around the next command. */
export interface StandingSandbox {
  /** It runs in the OS sandbox. */
  readonly stands: boolean;
  /** Also where it writes through, everything is hidden from it that deny patterns name. */
  readonly hidesAll: boolean;
  /** One in the foreground runs in a transaction. */
  readonly transaction: boolean;
  readonly network: boolean;
}

/** A world in which calls are tried. */
/** Why nothing of a preview was committed. */
export interface NothingMade {
  readonly why: string;
  /** Others changed the same. */
  readonly isConflict: boolean;
  /** The conflicts, path by path. */
  readonly changes?: CommandChanges;
}

export interface PreviewWorld {
  readonly sandbox: Sandbox;
  readonly search: ContainedSearch;
  readonly runCommand: RunCommand;
  readonly runProgram: RunProgram;
  /** Where the changes are kept. */
  readonly directory: string;
  /** That the paths of changes are relative to. */
  readonly root: string;
  /** A tool has changed files by itself. */
  fileToolEnded(): Promise<void>;
  /** What all of it has changed. */
  look(): Promise<PreviewedChanges>;
  /** @param begin waited for before anything is changed. @returns what was changed, and what could not be; a text: why nothing was */
  commit(begin: () => Promise<void>): Promise<CommandChanges | NothingMade>;
  discard(): Promise<void>;
}

// The settings of an executor are complete: nothing inside is optional that is always there. Each step gets its part.

/** Every step needs these. */
export interface CommonSettings {
  readonly mode: ExecutorMode;
  readonly logger: Logger;
  /** Undefined: nothing is traced, and nothing of it costs anything. */
  readonly telemetry?: Telemetry | undefined;
  readonly clock: Clock;
  /** A new unique, time-ordered id. */
  readonly createId: () => string;
}

/** The tools, and the limits of their calls. */
export interface ToolSettings {
  readonly registry: Registry;
  readonly limits: CallLimits;
  readonly timeouts: Readonly<Record<TimeoutClass, ClassTimeout>>;
}

/** The contained files, and the kept outputs, which tools read like files. */
export interface FileSettings {
  readonly sandbox: Sandbox;
  readonly covers: (outer: string, inner: string) => boolean;
  /** Untruncated outputs. */
  readonly outputs: OutputStore;
}

/** The policy, and what helps it to understand a call. */
export interface PolicySettings {
  /** Null: no policy is asked. */
  readonly policy: Policy | null;
  /** Before the policy is asked about a command: loads what understands it. Undefined: it is there. */
  readonly loadAnalysis: () => Promise<void> | undefined;
  /** Only once that is loaded. */
  readonly analyze: AnalyzeCommand;
  /** Told of every decision of the policy. */
  readonly onDecision: DecisionObserver | undefined;
  /** For the policy: the sub-agent that makes the calls of a run. */
  readonly agent?: string | undefined;
  /** For the policy: where a path lies that a command names. */
  readonly locator: Required<Pick<PolicyQuestion, 'locate' | 'refusal' | 'expand' | 'hiddenBelow'>>;
  /** Of the conversation whose calls are planned. Undefined: nothing is known that a policy could read. */
  readonly origins?: OriginView | undefined;
}

/** What the command sandbox means for a call. */
export interface ContainmentSettings {
  /** Which external tools are kept in the command sandbox, and in what. */
  readonly programs: { readonly which: 'off' | 'untrusted' | 'all'; readonly confinement: Confinement };
  /** What the command sandbox means for a call that runs a command. */
  readonly commandGuard: CommandGuard;
  /** Commands are meant to run in the OS sandbox, without the network, and change nothing before their end. */
  readonly keepsCommandsApart: boolean;
  /** `contained`: then they run unasked, and are asked about where they went beyond what was to be expected. */
  readonly profile: 'none' | 'contained';
  /** Whether this machine can do that. */
  readonly canKeepApart: () => Promise<boolean>;
}

/** The journal, and the process that writes it. */
export interface JournalSettings {
  /** Null: nothing is recorded. */
  readonly journal: Journal | null;
  readonly worker: Worker;
  /** Whether the very process lives that a journal knows. */
  readonly isWorkerAlive: (worker: Worker) => boolean;
}

/** How results are cleaned and cut. */
export interface ResultSettings extends Pick<FileSettings, 'outputs'> {
  /** Exact values that never leave: those of removed environment variables. More may join while calls run. */
  readonly secretValues: readonly string[];
  readonly maxOutputBytes: number;
  /** Bytes of pictures, sounds and documents in one result. */
  readonly maxContentBytes: number;
}

/** Who is asked. */
export interface PersonSettings {
  readonly reviewers: readonly Reviewer[];
  /** Users' programs that hear of questions, refusals, batches and turns. */
  readonly hooks: EventHooks;
  /** Null: confirmation is skipped, on purpose. Undefined: there is no person to ask. */
  readonly approver: Approver | null | undefined;
  /** Asked while a call runs, and by the sub-agents of a call. */
  readonly lateApprover: Approver | null | undefined;
  /** Asked what tools want to know. Undefined: no person is there. */
  readonly asker: Asker | undefined;
}

/** How commands and programs run. */
export interface CommandSettings {
  readonly runCommand: RunCommand;
  readonly runProgram: RunProgram;
  /** Undefined: no port is exposed. */
  readonly exposePort?: ((conversation: string, port: number) => Promise<ExposedPort | string>) | undefined;
  /** Those of this executor, of all its conversations: who knows an id may use it. */
  readonly shells: BackgroundShells;
  /** The environment of commands, already sanitised. `isAttended`: a person sits in front of the command. */
  readonly commandEnvironment: (options?: {
    readonly maxAgeMs?: number;
    readonly isAttended?: boolean;
  }) => Readonly<Record<string, string>>;
}

/** Who does the work of sub-agents. */
export interface AgentSettings {
  /** Does the work of sub-agents. Undefined: there are none. */
  readonly agents: AgentRunner | undefined;
  /** How deep this agent is below the conversation itself, which is 0. */
  readonly depth: number;
  /** An executor with other settings, which is a part of this one and is closed with it. */
  readonly partOf: (settings: ExecutorSettings) => Executor;
}

/** Planning a call. */
export interface PlanSettings
  extends CommonSettings,
    ToolSettings,
    FileSettings,
    PolicySettings,
    ContainmentSettings,
    ResultSettings,
    Pick<JournalSettings, 'journal'> {}

/** Asking for calls, which are planned again if their arguments or files change. */
export interface ApprovalSettings extends PlanSettings, PersonSettings {}

/** Recording a batch and its calls. */
export interface RecordSettings
  extends CommonSettings,
    JournalSettings,
    Pick<ToolSettings, 'timeouts'>,
    Pick<ContainmentSettings, 'programs'> {}

/** Answering calls that a dead process left. */
export interface RecoverySettings extends PlanSettings, JournalSettings {
  /** Whether it could be seen from here that it lives. */
  readonly isWorkerVisible: (worker: Worker) => boolean;
  readonly isProcessAlive: (pid: number, startTicks?: number) => boolean;
}

/** Running a tool. */
export interface ExecutionSettings extends ApprovalSettings, RecordSettings, CommandSettings, AgentSettings {
  readonly middleware: readonly Middleware[];
  /** Null: nothing is answered from memory. */
  readonly cache: LruResultCache | null;
  /** For the calls that run, by that clock. */
  readonly timeLimits: TimeLimits<Limited>;
  readonly search: ContainedSearch;
}

/** All of it. */
export interface ExecutorSettings extends ExecutionSettings, RecoverySettings {
  /** @throws ToolError `sandbox_violation` where this machine cannot keep changes apart */
  readonly openPreview: () => Promise<PreviewWorld>;
  readonly onUnhandledError: OnUnhandledError;
}
