import type { ShownFile } from '../../contract/approval.js';
import type { ToolResult } from '../../contract/call.js';
import type { ChangedEntry } from '../../contract/changes.js';
import type { ConversationMemory } from '../../contract/context.js';
import type { BatchMessage, CallRecord, Placement } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import type { EarlierDecision } from '../../contract/telemetry.js';
import type { Observer } from '../events/observer.js';
import type { EvaluatedCall, ReadyCall } from './evaluated-call.js';
import type { ExecutorSettings } from './settings.js';

/** A call whose tool is about to run. */
export interface PreviewedCall {
  readonly index: number;
  readonly ready: ReadyCall;
  readonly signal: AbortSignal;
  /** Writes a note about the call. Resolves when the journal holds it. */
  readonly note: (data: JsonObject) => Promise<void>;
}

export type UnexpectedEntry = Pick<ChangedEntry, 'path' | 'unexpected'>;

/** The role of a batch in a preview: either it tries its calls, or it replays the results of the trial. */
export interface PreviewRole {
  /** Whether a call runs in the trial. Other calls answer as in a dry run. */
  runs(ready: ReadyCall): boolean;
  /** Reports that a command changed more than its call declared and was allowed. */
  sawUnexpected(index: number, entries: readonly UnexpectedEntry[]): void;
  /** @returns the calls; a call now needs approval if it changed more in the trial than it was allowed to */
  planned(evaluated: readonly EvaluatedCall[]): readonly EvaluatedCall[];
  /** Called with the approved calls before any call runs. @returns the calls that continue, and the refused ones */
  approved(evaluated: readonly EvaluatedCall[]): readonly EvaluatedCall[];
  /** Runs a tool, or returns its result from the trial. */
  run(call: PreviewedCall, execute: () => unknown): unknown;
  /** Reports that a call has its answer. */
  answered(index: number): void;
}

/** A recorded call without a process. This process tries to run it as a worker of a fleet. */
export interface TakenCall {
  readonly record: CallRecord;
  /** A person agreed to the call after seeing the question. */
  readonly isByPerson: boolean;
  /** Whether changes of a command beyond its permission are kept. Undefined: the worker's approver decides. */
  readonly keepsUnexpected: boolean | undefined;
  /**
   * Called after the claim, right before the tool would start. If it returns a result, the call must no longer start,
   * and that result is its answer.
   */
  readonly refusal: () => ToolResult | undefined;
  /** Receives the output while the call runs. */
  readonly printed?: (stream: 'stdout' | 'stderr', text: string) => void;
  /** Called before the result is recorded. @returns the result to record */
  readonly ending?: (result: ToolResult) => Promise<ToolResult>;
}

/** The values that all calls of one batch share (D032). */
export interface BatchScope {
  readonly id: string;
  readonly settings: ExecutorSettings;
  readonly conversation: string;
  readonly memory: ConversationMemory;
  readonly dryRun: boolean;
  /** Recorded with the batch if the caller passed it. */
  readonly message: BatchMessage | undefined;
  readonly origin: JsonObject | undefined;
  /**
   * For a deferred batch that continues: its recorded calls. A call that an earlier batch delivered first
   * belongs to that batch.
   */
  readonly deferred:
    | {
        readonly calls: readonly CallRecord[];
        /** The content that the person saw, if the caller passed it. */
        readonly shown: readonly ShownFile[];
        /** The decision about a ticket. */
        readonly decision: EarlierDecision | undefined;
      }
    | undefined;
  /** The call that this process takes as a worker. Undefined: the batch was delivered to this process. */
  readonly taken: TakenCall | undefined;
  /** The workers that may run its calls. Undefined: this process runs them. */
  readonly placement: Placement | undefined;
  /** Absent for an ordinary batch. */
  readonly preview?: PreviewRole | undefined;
  /** Undefined: no reader receives the batch's events. */
  readonly observer: Observer | undefined;
  /** The bytes that the model's context can still take. Every result reduces it. */
  capacityBytes: number;
}
