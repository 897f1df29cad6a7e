import type { ShownFile } from '../../contract/approval.js';
import type { ChangedEntry } from '../../contract/changes.js';
import type { ConversationMemory } from '../../contract/context.js';
import type { BatchMessage, CallRecord } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import type { Observer } from '../events/observer.js';
import type { EvaluatedCall, ReadyCall } from './evaluated-call.js';
import type { ExecutorSettings } from './settings.js';

/** A call whose tool is to be run. */
export interface PreviewedCall {
  readonly index: number;
  readonly ready: ReadyCall;
  readonly signal: AbortSignal;
  /** Resolves when it is on record. */
  readonly note: (data: JsonObject) => Promise<void>;
}

export type UnexpectedEntry = Pick<ChangedEntry, 'path' | 'unexpected'>;

/** The part that a batch plays for a preview: its calls are tried, or what they gave then is taken over. */
export interface PreviewRole {
  /** Whether a call is run; the others answer as in a dry run. */
  runs(ready: ReadyCall): boolean;
  /** A command has changed more than its call declared and was allowed. */
  sawUnexpected(index: number, entries: readonly UnexpectedEntry[]): void;
  /** @returns the calls, with those asked about of which more is known than the plan */
  planned(evaluated: readonly EvaluatedCall[]): readonly EvaluatedCall[];
  /** Told what was approved, before any call runs. @returns what becomes of them */
  approved(evaluated: readonly EvaluatedCall[]): readonly EvaluatedCall[];
  /** Runs a tool, or gives what it gave. */
  run(call: PreviewedCall, execute: () => unknown): unknown;
  /** A call has its answer. */
  answered(index: number): void;
}

/** What the calls of one batch have in common (D032). */
export interface BatchScope {
  readonly id: string;
  readonly settings: ExecutorSettings;
  readonly conversation: string;
  readonly memory: ConversationMemory;
  readonly dryRun: boolean;
  /** Recorded with the batch, where the caller has given them. */
  readonly message: BatchMessage | undefined;
  readonly origin: JsonObject | undefined;
  /**
   * For a deferred batch that is gone on with: its calls as recorded. A call that an earlier batch delivered first
   * belongs to that batch.
   */
  readonly deferred:
    | {
        readonly calls: readonly CallRecord[];
        /** What the person saw, where the caller says so. */
        readonly shown: readonly ShownFile[];
      }
    | undefined;
  /** Left out: it is an ordinary batch. */
  readonly preview?: PreviewRole | undefined;
  /** Undefined: the batch has no reader for its events. */
  readonly observer: Observer | undefined;
  /** Bytes that the model's context can still take; shrinks with every result. */
  capacityBytes: number;
}
