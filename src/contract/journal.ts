import type { Effect } from './effect.js';
import type { JsonObject } from './json.js';
import type { Disposition } from './plan.js';
import type { ToolResult } from './result.js';
import type { Awaitable } from './tool.js';

/** Names one delivery of one call: batch and index. Opaque; unique in a journal. */
export type CallKey = string;

/** Who runs a call. A process is known by its id *and* its start, because ids are used again. */
export interface Worker {
  readonly id: string;
  readonly pid: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** A call as it is recorded, before anything is done for it. */
export interface CallEntry {
  readonly callId: string;
  readonly toolName: string;
  readonly args: JsonObject;
  readonly effects: readonly Effect[];
  readonly disposition: Disposition;
  readonly reason: string;
}

export interface BatchEntry {
  /** Time-ordered, unique. */
  readonly id: string;
  readonly conversation: string;
  /**
   * True when the conversation was named by the caller: then `(conversation, callId)` names the first delivery, and
   * a later one with the same arguments attaches to it. False: every delivery is a call of its own.
   * An answer `approval_unavailable` is no final word, because nobody has decided: the same call delivered again is
   * fresh, and takes over the name.
   */
  readonly attach: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly calls: readonly CallEntry[];
}

export type Acceptance =
  | { readonly kind: 'fresh'; readonly key: CallKey }
  /** Delivered before with the same arguments: `record` is what became of it. */
  | { readonly kind: 'known'; readonly key: CallKey; readonly record: CallRecord }
  /** Delivered before with other arguments, or twice in this batch. It has a key, so that its answer is recorded. */
  | { readonly kind: 'conflict'; readonly key: CallKey; readonly record: CallRecord };

export type CallState = 'queued' | 'running' | 'done';

export interface CallRecord extends CallEntry {
  readonly key: CallKey;
  readonly batchId: string;
  readonly index: number;
  readonly conversation: string;
  readonly state: CallState;
  /** Present exactly when `done`. */
  readonly result?: ToolResult;
  readonly worker?: Worker;
  readonly acceptedAt: number;
  readonly startedAt?: number;
  readonly finishedAt?: number;
}

/** Facts a probe or an undo will need, on disk before the effect they speak of. */
export interface JournalNote {
  readonly kind: 'intent' | 'preimage' | 'process' | 'approval' | 'late_result';
  readonly data: JsonObject;
  readonly at: number;
}

/**
 * The record of every call, and the fence before every effect (design: the journal).
 *
 * 1. Operations take effect in the order they were asked for; a returned promise resolves when the operation, and
 *    with it all earlier ones, is as durable as the journal is. A plain value means: it already is.
 * 2. At most one `claim` of a key ever answers true.
 * 3. The first `finish` of a key wins and never changes; a later one is kept as a note and answered `late`.
 * 4. Every operation that cannot be recorded throws or rejects with `ToolError` `journal_unavailable`.
 */
export interface Journal {
  /** Whether records survive the process. */
  readonly durable: boolean;
  /** Records a batch whole. One answer per call, in order. */
  accept(batch: BatchEntry): Awaitable<readonly Acceptance[]>;
  /** The fence: true exactly once per key, and only while it is queued. */
  claim(key: CallKey, worker: Worker, at: number): Awaitable<boolean>;
  note(key: CallKey, note: JournalNote): Awaitable<void>;
  /** The answer, from any state. */
  finish(key: CallKey, result: ToolResult, at: number): Awaitable<'recorded' | 'late'>;
  /** Everything asked for so far, durable. */
  sync(): Awaitable<void>;

  call(key: CallKey): Awaitable<CallRecord | undefined>;
  /** The delivery that a call id names in a conversation: the first, unless that one was judged anew. */
  find(conversation: string, callId: string): Awaitable<CallRecord | undefined>;
  /** A batch's calls, in order. */
  batch(id: string): Awaitable<readonly CallRecord[]>;
  /** Calls that are not done, oldest first; of one conversation, or of all. */
  unfinished(conversation?: string): Awaitable<readonly CallRecord[]>;
  notes(key: CallKey): Awaitable<readonly JournalNote[]>;
  /** Writes what is pending, then closes. Closing twice is fine. */
  close(): Awaitable<void>;
}
