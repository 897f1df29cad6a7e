import type { Disposition } from './approval.js';
import type { Awaitable, ToolResult } from './call.js';
import type { Effect } from './effect.js';
import type { Dispatcher, Signals } from './fleet.js';
import type { BatchFilter, CallPage, QueuedPage } from './journal-pages.js';
import type { JsonObject, JsonValue } from './json.js';
import type { Pruned, PruneLimits } from './pruning.js';
import type {
  CallKey,
  Claimant,
  LiveText,
  OpenCounts,
  Placement,
  Renewal,
  RunningCount,
  SessionWorker,
  Worker,
  WorkerOffer,
  WorkerSession,
} from './worker.js';

export type { BatchFilter, CallPage, QueuedPage } from './journal-pages.js';
export type { Pruned, PruneLimits } from './pruning.js';
export type {
  CallKey,
  Claimant,
  LiveText,
  OpenCounts,
  Placement,
  Renewal,
  RunningCount,
  RunningQuotas,
  SessionWorker,
  Worker,
  WorkerOffer,
  WorkerSession,
} from './worker.js';

/** The model's message that contained a batch of calls. */
export interface BatchMessage {
  readonly text: string;
  readonly model?: string;
  readonly provider?: string;
}

/** A call as it is recorded before any work on it starts. */
export interface CallEntry {
  readonly callId: string;
  /** The reader of the response made up the id, so it identifies a call only together with a turn. */
  readonly madeUp?: true;
  /** The turn of a made-up id. If it is left out with `madeUp`, no later delivery attaches to the call. */
  readonly turn?: string;
  readonly toolName: string;
  readonly args: JsonObject;
  readonly effects: readonly Effect[];
  /**
   * Where the effects are: canonical absolute paths, one per effect, null for an effect without one. Other
   * processes compare them, because their own roots may differ. If absent: unknown.
   */
  readonly places?: readonly (string | null)[];
  readonly disposition: Disposition;
  readonly reason: string;
}

export interface BatchEntry {
  /** Time-ordered and unique. */
  readonly id: string;
  readonly conversation: string;
  /**
   * True if the caller named the conversation. Then a call's identity names its first delivery, and a later
   * delivery with the same arguments attaches to it. The identity is `(conversation, callId)`, or
   * `(conversation, turn, callId)` for a made-up id; without a turn a made-up id has no identity and the call
   * is always fresh, unless its id occurs twice in the batch. False: every delivery is a new call. An answer
   * `approval_unavailable` is not final, because nothing was decided: the next delivery of the call is fresh
   * and takes over the identity.
   */
  readonly attach: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly calls: readonly CallEntry[];
  /** The process that will run the calls. If it dies, its queued calls are dead too. If absent: no process. */
  readonly worker?: Worker;
  /** Only without `worker`: any worker that this admits may run the calls. */
  readonly placement?: Placement;
  /**
   * The maximum number of open calls of the placement's tenant: calls with a placement that were not refused and have no
   * result. A batch that would exceed it is refused whole. Only for journals with `running`.
   */
  readonly openQuota?: number;
  /**
   * Its calls only read: if a power failure loses the acceptance, a second run of them changes nothing. So the acceptance
   * may become durable together with the next operation of the journal, before which no call has an answer.
   */
  readonly onlyReads?: true;
  /** The assistant's message that contained the calls. */
  readonly message?: BatchMessage;
  /** Data that a surface needs to answer later in the original format. Only that surface reads it. */
  readonly origin?: JsonObject;
}

/** A recorded batch without its calls. */
export interface BatchRecord extends Omit<BatchEntry, 'calls' | 'openQuota' | 'onlyReads'> {
  /** The number of calls in the delivery, repeated ones included. */
  readonly size: number;
  /** Absent if there was nothing to decide. */
  readonly decision?: DecisionKind;
}

/**
 * A decision about a whole batch. `wait`: the batch and its conversation wait for the person. `resume`: its
 * results count. `discard`: they count as failures.
 */
export type DecisionKind = 'wait' | 'resume' | 'discard';

/** The person's statement about a call that a crash interrupted: it took effect, or it did not. */
export type Settlement = 'applied' | 'not_applied';

export interface BatchDecision {
  readonly kind: DecisionKind;
  readonly at: number;
  /** The reason and the decider. */
  readonly data: JsonObject;
}

/** A message of a conversation without calls: from the person, the system or the model. */
export interface ConversationMessage {
  readonly role: string;
  readonly content: JsonValue;
  readonly at: number;
}

/** A fact of a conversation, for later processes. The newest value of a key counts. */
export interface ConversationFact {
  readonly key: string;
  /** A small value: it is stored in the same row. */
  readonly value: JsonValue;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface RecalledFacts {
  /** One per key, in the order of writing. */
  readonly facts: readonly ConversationFact[];
  /** Pass it to the next `recall` to get only newer facts. Opaque; valid for this journal. */
  readonly mark: number;
}

/** One event in a conversation. Events are in order. */
export type ConversationEntry =
  | ({ readonly kind: 'message' } & ConversationMessage)
  | ({ readonly kind: 'batch' } & BatchRecord);

export type Acceptance =
  | {
      readonly kind: 'fresh';
      readonly key: CallKey;
      /**
       * Another worker may have an unfinished call in this conversation: ask `waiting` before the call starts.
       * Only if deliveries attach.
       */
      readonly behind?: true;
    }
  /** Delivered before with the same arguments. `record` holds its current state. */
  | { readonly kind: 'known'; readonly key: CallKey; readonly record: CallRecord }
  /**
   * Delivered before with other arguments, or twice in this batch. It has a key, so its answer is recorded; it is
   * recorded as `pre_resolved`, so no worker runs it in the meantime.
   */
  | { readonly kind: 'conflict'; readonly key: CallKey; readonly record: CallRecord }
  /**
   * Not accepted. No part of such a batch is recorded, and the key is not valid; a call that was delivered before is
   * `known` nevertheless.
   */
  | ({ readonly key: CallKey } & Refusal);

/** The reason why a journal does not accept a batch. */
export type Refusal =
  /** A batch of this conversation waits for the person. Only if deliveries attach. */
  | {
      readonly kind: 'waits';
      readonly batchId: string;
      /** The reason from the last decision (`data.why`). Absent without a decision. */
      readonly why?: string;
    }
  /** The tenant has `open` open calls; with the calls of this batch it would exceed the quota. */
  | { readonly kind: 'over_quota'; readonly open: number; readonly quota: number };

export type CallState = 'queued' | 'running' | 'done';

export interface CallRecord extends CallEntry {
  readonly key: CallKey;
  readonly batchId: string;
  readonly index: number;
  readonly conversation: string;
  /** Of its batch. If absent: false. */
  readonly attach?: true;
  readonly state: CallState;
  /** Present exactly if the state is `done`. */
  readonly result?: ToolResult;
  /** The process that started the call. */
  readonly worker?: Worker;
  /** The process that would start it. */
  readonly acceptedBy?: Worker;
  /** The placement of its batch. */
  readonly placement?: Placement;
  /** The last decision about its batch. */
  readonly decision?: DecisionKind;
  /**
   * The person's statement in that decision about a call with an unknown outcome (`data.settled`, by call
   * id).
   */
  readonly settled?: Settlement;
  readonly acceptedAt: number;
  readonly startedAt?: number;
  readonly finishedAt?: number;
}

/** The calls that have changed in a journal. */
export interface Changes {
  /** Pass it to the next look. Opaque; valid for this journal. */
  readonly mark: string;
  /** The journal does not know the changes since the mark: `calls` are all calls without a result. */
  readonly isWhole: boolean;
  /** As they are now, in the order of their last change; with and without results. */
  readonly calls: readonly CallRecord[];
}

/** The kinds of notes. */
export const NOTE_KINDS = [
  'intent',
  'preimage',
  'process',
  'approval',
  'late_result',
  'undo',
  'received',
  'asked',
  'cancel',
] as const;

/** Facts for a probe or an undo, written to disk before the effect. */
export interface JournalNote {
  readonly kind: (typeof NOTE_KINDS)[number];
  readonly data: JsonObject;
  readonly at: number;
}

/**
 * The record of every call, and the fence before every effect.
 *
 * 1. Operations take effect in the order of the calls. A returned promise resolves when the operation and all
 *   earlier ones are as durable as the journal allows. A plain value means that this is already so.
 * 2. At most one `claim` of a key ever returns true.
 * 3. The first `finish` of a key wins and never changes. A later one is kept as a note and answered `late`. An answer
 *    that is sent twice counts once.
 * 4. An operation that cannot be recorded throws or rejects with `ToolError` `journal_unavailable`.
 */
export interface Journal {
  /** Whether records survive the process. */
  readonly durable: boolean;
  /** Its file, beside which whole outputs are kept. If absent: it has none. */
  readonly file?: string;
  /** Whether processes of several machines share it: a worker that cannot be seen here may be alive. Default false. */
  readonly spansMachines?: boolean;
  /** The tenant of calls whose placement names none. Default `default`. */
  readonly tenant?: string;
  /** Carries hints between the processes that share the journal, where hosts and workers have no other dispatcher. */
  readonly dispatcher?: Dispatcher;
  /** Notifies the other processes without delay. If absent: they find changes by polling. */
  readonly signals?: Signals;
  /** Records a whole batch. One answer per call, in order. */
  accept(batch: BatchEntry): Awaitable<readonly Acceptance[]>;
  /**
   * The fence: true exactly once per key, and only while the call is queued. False for a worker with an epoch whose
   * session is over, or was never begun, or if a quota of its offer or of the placement holds the call back.
   */
  claim(key: CallKey, worker: Worker, at: number): Awaitable<boolean>;
  note(key: CallKey, note: JournalNote): Awaitable<void>;
  /**
   * Stores bytes under their SHA-256 (lower-case hex) and returns it; equal bytes are stored once. A journal
   * that is not durable may drop the oldest.
   */
  keep(bytes: Uint8Array): Awaitable<string>;
  /**
   * Decides a batch; true if the decision counts. `wait` counts only while a call of the batch is not done,
   * the others only while the batch waits: if two processes decide at once, one succeeds.
   */
  decide(batchId: string, decision: BatchDecision): Awaitable<boolean>;
  /** Appends a message to a conversation. */
  message(conversation: string, message: ConversationMessage): Awaitable<void>;
  /**
   * Stores facts of a conversation. An unchanged value is not written again. If this and `recall` are left
   * out, file reads are known to one process only.
   */
  remember?(conversation: string, facts: readonly ConversationFact[]): Awaitable<void>;
  /**
   * Records the answer. Binary content is stored as bytes. If a journal that is not durable has dropped them, a
   * text says so.
   * @param claimant the claim that the answer ends. `claimed`: another worker holds the claim and its answer counts, so
   *   nothing is recorded. A late answer that ends no claim is not recorded either: the call did not run for it.
   */
  finish(
    key: CallKey,
    result: ToolResult,
    at: number,
    claimant: Claimant,
  ): Awaitable<'recorded' | 'late' | 'claimed'>;
  /**
   * Cancels a call. `cancelled`: it was queued, and `result` is its result now. `asked`: it runs; a note `cancel` says so,
   * and the next renewal of its worker names it. `done`: it has a result.
   */
  cancel?(key: CallKey, result: ToolResult, at: number): Awaitable<'cancelled' | 'asked' | 'done'>;
  /**
   * Begins the session of a worker, or continues it and adds one to its beat. Undefined: the session is over, because it
   * was reaped or the worker has begun a later one. `renew`, `reap` and `sessions` come together; without them workers
   * have no sessions.
   */
  renew?(worker: SessionWorker, at: number, offer?: WorkerOffer): Awaitable<Renewal | undefined>;
  /**
   * Ends a session if its beat is still `beat`, and returns the unfinished calls that it runs or has accepted: the caller
   * gives them results. From then on it claims nothing. For a session that is over: the calls that are left. Undefined:
   * the worker has renewed it since.
   */
  reap?(
    worker: Pick<SessionWorker, 'id' | 'epoch'>,
    beat: number,
    at: number,
  ): Awaitable<readonly CallRecord[] | undefined>;
  /**
   * Removes old batches with their calls. These stay: a batch with an unfinished call, one that waits for the person,
   * one whose answers another remaining batch uses, and the newest. A removed call runs again when it is delivered
   * again.
   */
  prune?(limits: PruneLimits, at: number): Awaitable<Pruned>;
  /** Makes everything so far durable. */
  sync(): Awaitable<void>;

  call(key: CallKey): Awaitable<CallRecord | undefined>;
  /**
   * The delivery that a call id names in a conversation: the first one, unless that was planned again. With a
   * turn: among made-up ids of that turn; without one: among the provider's ids. Without a conversation: the
   * newest started call with that id (and turn), otherwise the newest.
   */
  find(conversation: string | undefined, callId: string, turn?: string): Awaitable<CallRecord | undefined>;
  /** The calls of a batch, in order. */
  batch(id: string): Awaitable<readonly CallRecord[]>;
  /** Calls that are not done, oldest first; of one conversation or of all; all of them or one page. */
  unfinished(conversation?: string, page?: CallPage): Awaitable<readonly CallRecord[]>;
  /**
   * The calls that the calls of a batch may have to wait for: those of its conversation that have no result and
   * were accepted before it, or run. Those of the batch itself are left out; oldest first. If this is left out,
   * conflicting calls of one conversation are in order in each process, but not among processes.
   */
  waiting?(batchId: string): Awaitable<readonly CallRecord[]>;
  /** Calls with a placement that are queued and do not wait for the person, oldest first. */
  queued?(page: QueuedPage): Awaitable<readonly CallRecord[]>;
  /** The running calls with a placement, counted. A journal without it knows no quotas, and no fair order. */
  running?(): Awaitable<readonly RunningCount[]>;
  /**
   * At least the calls that were accepted, claimed, decided or answered since the mark. Without a mark: all without a
   * result. If this is left out, readers compare all of them.
   */
  changes?(since?: string): Awaitable<Changes>;
  /** Counts the calls without a result. If this is left out, they are read. */
  openCounts?(): Awaitable<OpenCounts>;
  /** The sessions that are not over, and those that are and have unfinished calls. */
  sessions?(): Awaitable<readonly WorkerSession[]>;
  /**
   * Keeps the output of running calls for readers in other processes. It is not durable, and only the newest part of
   * all output is kept, so a reader may find gaps. `print` and `printed` come together.
   */
  print?(texts: readonly LiveText[], at: number): Awaitable<void>;
  /** The kept output of these calls from the given positions on, in order for each call. */
  printed?(places: ReadonlyMap<CallKey, number>): Awaitable<readonly LiveText[]>;
  notes(key: CallKey): Awaitable<readonly JournalNote[]>;
  /** The bytes stored under this hash; undefined if there are none, or they were dropped. */
  kept(hash: string): Awaitable<Uint8Array | undefined>;
  /** All decisions about a batch, in order. */
  decisions(batchId: string): Awaitable<readonly BatchDecision[]>;
  /** Batches, newest first. */
  batches(filter?: BatchFilter): Awaitable<readonly BatchRecord[]>;
  /** The messages and batches of a conversation, oldest first. */
  history(conversation: string): Awaitable<readonly ConversationEntry[]>;
  /** The facts of a conversation; with a mark, at least the newer ones. */
  recall?(conversation: string, since?: number): Awaitable<RecalledFacts>;
  /**
   * Whether no other process has this journal open now. Then a call that was started by an unseen process is
   * dead. Absent if the journal cannot tell.
   */
  isAlone?(): Awaitable<boolean>;
  /** Writes pending records and closes. May be called twice. */
  close(): Awaitable<void>;
}
