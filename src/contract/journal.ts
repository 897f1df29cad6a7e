import type { Disposition } from './approval.js';
import type { Awaitable, ToolResult } from './call.js';
import type { Effect } from './effect.js';
import type { JsonObject, JsonValue } from './json.js';

/** Names one delivery of one call: batch and index. Opaque; unique in a journal. */
export type CallKey = string;

/** Who runs a call. A process is known by its id *and* its start, because ids are used again. */
export interface Worker {
  readonly id: string;
  readonly pid: number;
  /** Milliseconds since the epoch; as exact as the system's clock. */
  readonly startedAt: number;
  /**
   * Clock ticks from the start of the machine to that of the process, where the system tells them: no change of the
   * clock moves them, so they are compared first.
   */
  readonly startTicks?: number;
  /** Names the run of the machine, and the space of process ids, in which `pid` means this process. */
  readonly system?: string;
}

/** What the model said when it asked for a batch. */
export interface BatchMessage {
  readonly text: string;
  readonly model?: string;
  readonly provider?: string;
}

/** A call as it is recorded, before anything is done for it. */
export interface CallEntry {
  readonly callId: string;
  /** The id was made up by the reader of the response: it names a call only together with a turn. */
  readonly madeUp?: true;
  /** The turn that a made-up id belongs to. Left out with `madeUp`: no later delivery attaches to the call. */
  readonly turn?: string;
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
   * True when the conversation was named by the caller: then a call's identity names the first delivery, and a later
   * one with the same arguments attaches to it. The identity is `(conversation, callId)`; for a made-up id it is
   * `(conversation, turn, callId)`, and without a turn there is none: the call is always fresh, except where its id
   * comes twice in the batch. False: every delivery is a call of its own.
   * An answer `approval_unavailable` is no final word, because there was no decision: the same call delivered again is
   * fresh, and takes over the name.
   */
  readonly attach: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly calls: readonly CallEntry[];
  /** The process that will run it: when that is dead, so are its queued calls. Left out: none. */
  readonly worker?: Worker;
  /** The assistant's message that the calls came with. */
  readonly message?: BatchMessage;
  /** What a surface needs later to answer in kind; only it can read that. */
  readonly origin?: JsonObject;
}

/** A batch as it was recorded, without its calls. */
export interface BatchRecord extends Omit<BatchEntry, 'calls'> {
  /** How many calls were delivered with it, repeated ones included. */
  readonly size: number;
  /** Left out: there was nothing to decide. */
  readonly decision?: DecisionKind;
}

/** Which batches, newest first. */
export interface BatchFilter {
  readonly conversation?: string;
  /** Only those that wait for the person. */
  readonly waiting?: boolean;
  /** Only those whose id begins with this. A journal that does not know this filter gives others as well. */
  readonly prefix?: string;
  /** At most so many; default: all. */
  readonly limit?: number;
  /** The id of a batch: only older ones. */
  readonly before?: string;
}

/** A part of a list of calls. */
export interface CallPage {
  /** At most so many. */
  readonly limit: number;
  /** Only those behind this one, which need not be in the list any more. Left out: from the beginning. */
  readonly after?: CallKey;
}

/**
 * What is decided about a batch as a whole. `wait`: it waits for the person, and so does its conversation. `resume`:
 * its results count as they are. `discard`: they count as failures.
 */
export type DecisionKind = 'wait' | 'resume' | 'discard';

/** What the person knows of a call that a crash has cut: it took effect, or it did not. */
export type Settlement = 'applied' | 'not_applied';

export interface BatchDecision {
  readonly kind: DecisionKind;
  readonly at: number;
  /** Why, and by whom. */
  readonly data: JsonObject;
}

/** A message of a conversation that is no batch: the person's, the system's, a model's answer without calls. */
export interface ConversationMessage {
  readonly role: string;
  readonly content: JsonValue;
  readonly at: number;
}

/** Something that a conversation knows, for the processes that come later; under one key the newest stands. */
export interface ConversationFact {
  readonly key: string;
  /** Small: it is kept whole, in the same row. */
  readonly value: JsonValue;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface RecalledFacts {
  /** One a key, in the order in which they were remembered. */
  readonly facts: readonly ConversationFact[];
  /** Give it to the next `recall` to get only what was remembered since. Opaque; it means something to this journal. */
  readonly mark: number;
}

/** What happened in a conversation, in order. */
export type ConversationEntry =
  | ({ readonly kind: 'message' } & ConversationMessage)
  | ({ readonly kind: 'batch' } & BatchRecord);

export type Acceptance =
  | { readonly kind: 'fresh'; readonly key: CallKey }
  /** Delivered before with the same arguments: `record` is what became of it. */
  | { readonly kind: 'known'; readonly key: CallKey; readonly record: CallRecord }
  /** Delivered before with other arguments, or twice in this batch. It has a key, so that its answer is recorded. */
  | { readonly kind: 'conflict'; readonly key: CallKey; readonly record: CallRecord }
  /**
   * Not accepted: a batch of this conversation waits for the person. Only where deliveries attach; what was delivered
   * before is `known` all the same. Nothing of such a batch is recorded, and the key names nothing.
   */
  | {
      readonly kind: 'waits';
      readonly key: CallKey;
      readonly batchId: string;
      /** What its last decision says (`data.why`); left out where it says nothing. */
      readonly why?: string;
    };

export type CallState = 'queued' | 'running' | 'done';

export interface CallRecord extends CallEntry {
  readonly key: CallKey;
  readonly batchId: string;
  readonly index: number;
  readonly conversation: string;
  readonly state: CallState;
  /** Present exactly when `done`. */
  readonly result?: ToolResult;
  /** Who has started it. */
  readonly worker?: Worker;
  /** The process that would start it. */
  readonly acceptedBy?: Worker;
  /** What was decided last about its batch. */
  readonly decision?: DecisionKind;
  /** What the person has said of a call whose outcome was not known, with that decision (`data.settled`, by call id). */
  readonly settled?: Settlement;
  readonly acceptedAt: number;
  readonly startedAt?: number;
  readonly finishedAt?: number;
}

/** What notes speak of. */
export const NOTE_KINDS = [
  'intent',
  'preimage',
  'process',
  'approval',
  'late_result',
  'undo',
  'received',
  'asked',
] as const;

/** Facts a probe or an undo will need, on disk before the effect they speak of. */
export interface JournalNote {
  readonly kind: (typeof NOTE_KINDS)[number];
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
  /**
   * Keeps bytes under the SHA-256 (lower-case hex) of their content, which it gives; equal ones once.
   * A journal that is not durable may forget the oldest.
   */
  keep(bytes: Uint8Array): Awaitable<string>;
  /**
   * Decides about a batch; true when that counts. `wait` counts only while a call of the batch is not done, the
   * others only while it waits: of two that decide at once, one does.
   */
  decide(batchId: string, decision: BatchDecision): Awaitable<boolean>;
  /** Adds to a conversation, behind all that is recorded of it so far. */
  message(conversation: string, message: ConversationMessage): Awaitable<void>;
  /**
   * Adds to what a conversation knows. A value that stands already is not written again.
   * Left out, as `recall` is then: what a conversation has read is known to one process only.
   */
  remember?(conversation: string, facts: readonly ConversationFact[]): Awaitable<void>;
  /**
   * The answer, from any state. Bytes of its content are read as bytes again; in their place a text says so where a
   * journal that is not durable has forgotten them.
   */
  finish(key: CallKey, result: ToolResult, at: number): Awaitable<'recorded' | 'late'>;
  /** Everything asked for so far, durable. */
  sync(): Awaitable<void>;

  call(key: CallKey): Awaitable<CallRecord | undefined>;
  /**
   * The delivery that a call id names in a conversation: the first, unless that one was planned again. With a turn: of
   * the calls whose id was made up in that turn; without one: of those with an id of the provider's own. Without a
   * conversation: of all calls with that id (and turn) the newest that was started, else the newest.
   */
  find(conversation: string | undefined, callId: string, turn?: string): Awaitable<CallRecord | undefined>;
  /** A batch's calls, in order. */
  batch(id: string): Awaitable<readonly CallRecord[]>;
  /** Calls that are not done, oldest first; of one conversation, or of all; all of them, or a page. */
  unfinished(conversation?: string, page?: CallPage): Awaitable<readonly CallRecord[]>;
  notes(key: CallKey): Awaitable<readonly JournalNote[]>;
  /** What was kept under this hash; undefined where nothing is, or it was forgotten. */
  kept(hash: string): Awaitable<Uint8Array | undefined>;
  /** Everything that was decided about a batch, in order. */
  decisions(batchId: string): Awaitable<readonly BatchDecision[]>;
  /** Batches, newest first. */
  batches(filter?: BatchFilter): Awaitable<readonly BatchRecord[]>;
  /** A conversation's messages and batches, oldest first. */
  history(conversation: string): Awaitable<readonly ConversationEntry[]>;
  /** What a conversation knows; with a mark, at least what was remembered since. */
  recall?(conversation: string, since?: number): Awaitable<RecalledFacts>;
  /**
   * Whether no other process has these records open at this moment: who has begun a call and is not seen from here is dead
   * then. Left out: it cannot tell.
   */
  isAlone?(): Awaitable<boolean>;
  /** Writes what is pending, then closes. Closing twice is fine. */
  close(): Awaitable<void>;
}
