import { isDeepStrictEqual } from 'node:util';
import type { ToolResult } from '../../contract/call.js';
import type {
  Acceptance,
  BatchDecision,
  BatchEntry,
  BatchFilter,
  BatchRecord,
  CallEntry,
  CallKey,
  CallPage,
  CallRecord,
  Claimant,
  ConversationEntry,
  ConversationFact,
  ConversationMessage,
  Journal,
  JournalNote,
  LiveText,
  QueuedPage,
  RecalledFacts,
  Refusal,
  Renewal,
  RunningCount,
  SessionWorker,
  Worker,
  WorkerOffer,
  WorkerSession,
} from '../../contract/journal.js';
import { ToolError } from '../../errors/tool-error.js';
import { callKey, identityOf } from '../records/call-key.js';
import { endsClaim } from '../records/ends-claim.js';
import { countRunning, fairPage, isHeldBack, tenantOf } from '../records/fair-order.js';
import { batchIsKnown, batchIsUnknown, callIsUnknown, journalIsClosed } from '../records/journal-errors.js';
import { admits } from '../records/placement.js';
import { MemoryBatches } from './memory-batches.js';
import { filterBatches, lateNote, type MemoryBatch, MemoryCall, MemoryContents } from './memory-call.js';
import { MemoryFacts } from './memory-facts.js';
import { MemoryLiveTexts } from './memory-live-texts.js';
import { MemorySessions } from './memory-sessions.js';

interface MemoryJournalOptions {
  /** Maximum number of calls in finished batches; the oldest batches are dropped first. Default 1,000. */
  readonly capacity?: number;
}

/**
 * Creates a journal in memory: every answer is a plain value. It keeps every batch with an unfinished call,
 * and the newest finished ones, `capacity` calls in total. It knows nothing about older calls: another
 * delivery is `fresh`, and a late finish is answered `late` and not kept.
 *
 * Arguments and results are kept without a copy.
 *
 * @throws ToolError `config_invalid` if `capacity` is not a whole number of at least 0.
 */
export function createMemoryJournal(options: MemoryJournalOptions = {}): Journal {
  const capacity = options.capacity ?? 1000;
  if (!Number.isSafeInteger(capacity) || capacity < 0) {
    throw new ToolError(
      'config_invalid',
      `Cannot keep ${String(capacity)} calls: capacity must be a whole number, 0 or more.`,
    );
  }
  return new MemoryJournal(capacity);
}

class MemoryJournal implements Journal {
  readonly durable = false;
  private closed = false;
  private readonly batchesKept: MemoryBatches;
  private readonly contents: MemoryContents;
  private readonly facts = new MemoryFacts();
  private readonly workers = new MemorySessions();
  private readonly liveTexts = new MemoryLiveTexts();

  constructor(capacity: number) {
    this.batchesKept = new MemoryBatches(capacity);
    this.contents = new MemoryContents(capacity);
  }

  accept(entry: BatchEntry): readonly Acceptance[] {
    if (this.closed) throw journalIsClosed('accept a batch');
    const { batchesKept: kept } = this;
    if (kept.of(entry.id) !== undefined) throw batchIsKnown(entry.id);
    const blocker = entry.attach ? kept.waitingOf(entry.conversation) : undefined;
    if (blocker !== undefined) {
      const why = blocker.decisions?.at(-1)?.data.why;
      return this.answerKnown(entry, {
        kind: 'waits',
        batchId: blocker.entry.id,
        ...(typeof why === 'string' ? { why } : {}),
      });
    }
    const refusal = this.refusal(entry);
    if (refusal !== undefined) return this.answerKnown(entry, refusal);
    const batch = kept.add(entry);
    const inBatch = entry.calls.length > 1 ? new Map<string, MemoryCall>() : undefined;
    const answers = new Array<Acceptance>(entry.calls.length);
    for (let index = 0; index < entry.calls.length; index++) {
      answers[index] = this.acceptCall(batch, index, entry.calls[index] as CallEntry, inBatch);
    }
    if (batch.open === 0) kept.finish(batch);
    else kept.expect(batch.calls[0]);
    return answers;
  }

  /** Undefined: the quota allows the batch. */
  private refusal(entry: BatchEntry): Refusal | undefined {
    const { openQuota: quota, placement, attach, conversation, calls } = entry;
    if (quota === undefined) return undefined;
    const counts = ({ disposition }: CallEntry): boolean => disposition !== 'pre_resolved';
    const tenant = tenantOf(placement);
    const open = this.open().filter(
      ({ entry, batch }) =>
        counts(entry) && batch.entry.placement !== undefined && tenantOf(batch.entry.placement) === tenant,
    ).length;
    const isNew = (call: CallEntry): boolean => !attach || this.earlierOf(conversation, call) === undefined;
    const added = calls.filter((call) => counts(call) && isNew(call)).length;
    return added > 0 && open + added > quota ? { kind: 'over_quota', open, quota } : undefined;
  }

  private earlierOf(conversation: string, call: CallEntry): MemoryCall | undefined {
    const earlier = this.batchesKept.firstOf(conversation, call);
    return earlier?.isRepeatedBy(call) === true && !earlier.isOpen ? earlier : undefined;
  }

  /** Accepts nothing: only a call that was delivered before gets its answer. */
  private answerKnown({ id, conversation, calls }: BatchEntry, refusal: Refusal): readonly Acceptance[] {
    const seen = new Set<string>();
    return calls.map((call, index) => {
      const isFirst = !seen.has(call.callId);
      seen.add(call.callId);
      const earlier = isFirst ? this.earlierOf(conversation, call) : undefined;
      return earlier === undefined
        ? { ...refusal, key: callKey(id, index) }
        : { kind: 'known', key: earlier.key, record: earlier.toRecord() };
    });
  }

  private acceptCall(
    batch: MemoryBatch,
    index: number,
    entry: CallEntry,
    inBatch?: Map<string, MemoryCall>,
  ): Acceptance {
    const { attach, conversation } = batch.entry;
    const twin = inBatch?.get(entry.callId);
    const named = attach ? this.batchesKept.firstOf(conversation, entry) : undefined;
    // An open call has no decision yet: its next delivery is a new call and takes over the identity.
    const earlier = twin ?? (named?.isOpen && named.isRepeatedBy(entry) ? undefined : named);
    if (earlier !== undefined && twin === undefined && earlier.isRepeatedBy(entry)) {
      batch.calls[index] = earlier;
      inBatch?.set(entry.callId, earlier);
      return { kind: 'known', key: earlier.key, record: earlier.toRecord() };
    }
    const kept: CallEntry = earlier === undefined ? entry : { ...entry, disposition: 'pre_resolved' };
    const call = addCall(batch, index, kept);
    if (earlier !== undefined) {
      inBatch?.set(entry.callId, earlier);
      this.batchesKept.addSecond(batch);
      return { kind: 'conflict', key: call.key, record: earlier.toRecord() };
    }
    inBatch?.set(entry.callId, call);
    const identity = attach ? identityOf(conversation, entry) : undefined;
    if (identity !== undefined) {
      call.argsText = JSON.stringify(entry.args);
      this.batchesKept.makeFirst(identity, call);
    }
    return { kind: 'fresh', key: call.key };
  }

  claim(key: CallKey, worker: Worker, at: number): boolean {
    if (this.closed) throw journalIsClosed('claim a call');
    const call = this.batchesKept.callOf(key);
    if (call === undefined || call.worker !== undefined || call.result !== undefined) return false;
    if (!this.workers.mayClaim(worker) || this.isHeldBack(call, worker)) return false;
    call.worker = worker;
    call.startedAt = at;
    return true;
  }

  private isHeldBack({ batch, entry }: MemoryCall, worker: Worker): boolean {
    if (worker.epoch === undefined) return false;
    const { placement } = batch.entry;
    const quotas = this.workers.offerOf(worker)?.quotas;
    if (placement?.quotas === undefined && quotas === undefined) return false;
    return isHeldBack({ placement, toolName: entry.toolName }, this.running(), quotas);
  }

  note(key: CallKey, note: JournalNote): void {
    if (this.closed) throw journalIsClosed('note a fact');
    const call = this.batchesKept.callOf(key);
    if (call === undefined) throw callIsUnknown('note a fact of', key);
    call.notes ??= [];
    call.notes.push(note);
  }

  finish(key: CallKey, result: ToolResult, at: number, claimant: Claimant): 'recorded' | 'late' | 'claimed' {
    if (this.closed) throw journalIsClosed('record a result');
    const call = this.batchesKept.callOf(key);
    // A call that is no longer kept was answered long ago.
    if (call === undefined) return 'late';
    if (!endsClaim(claimant, call.worker)) return 'claimed';
    if (call.result !== undefined) {
      const isSame = call.finishedAt === at && isDeepStrictEqual(call.toRecord().result, result);
      if (isSame) return 'recorded';
      if (claimant !== 'queued')
        this.note(
          key,
          lateNote(result, at, (_, bytes) => this.contents.keep(bytes)),
        );
      return 'late';
    }
    call.answer(result, this.contents);
    call.finishedAt = at;
    call.batch.open--;
    if (call.batch.open === 0) this.batchesKept.finish(call.batch);
    return 'recorded';
  }

  cancel(key: CallKey, result: ToolResult, at: number): 'cancelled' | 'asked' | 'done' {
    if (this.closed) throw journalIsClosed('cancel a call');
    const call = this.batchesKept.callOf(key);
    if (call === undefined) throw callIsUnknown('cancel', key);
    if (call.result !== undefined) return 'done';
    if (call.worker === undefined) {
      this.finish(key, result, at, 'queued');
      return 'cancelled';
    }
    this.note(key, { kind: 'cancel', data: {}, at });
    return 'asked';
  }

  renew(worker: SessionWorker, at: number, offer: WorkerOffer = {}): Renewal | undefined {
    if (this.closed) throw journalIsClosed('renew a session');
    return this.workers.renew(worker, at, offer, this.open());
  }

  reap(
    worker: Pick<SessionWorker, 'id' | 'epoch'>,
    beat: number,
    at: number,
  ): readonly CallRecord[] | undefined {
    if (this.closed) throw journalIsClosed('end a session');
    return this.workers.reap(worker, beat, at, this.open())?.map((call) => call.toRecord());
  }

  sessions(): readonly WorkerSession[] {
    if (this.closed) throw journalIsClosed('read the sessions');
    return this.workers.list(this.open());
  }

  private open(): MemoryCall[] {
    return [...this.batchesKept.callsOf(undefined)].filter(({ result }) => result === undefined);
  }

  keep(bytes: Uint8Array): string {
    if (this.closed) throw journalIsClosed('keep bytes');
    return this.contents.keep(bytes);
  }

  decide(batchId: string, decision: BatchDecision): boolean {
    if (this.closed) throw journalIsClosed('decide about a batch');
    const batch = this.batchesKept.of(batchId);
    if (batch === undefined) throw batchIsUnknown('decide about', batchId);
    const counts = batch.decide(decision);
    if (counts) this.batchesKept.setWaiting(batch, decision.kind === 'wait');
    return counts;
  }

  message(conversation: string, message: ConversationMessage): void {
    if (this.closed) throw journalIsClosed('record a message');
    this.contents.send(conversation, message, this.batchesKept.count);
  }

  remember(conversation: string, facts: readonly ConversationFact[]): void {
    if (this.closed) throw journalIsClosed('remember facts');
    this.facts.add(conversation, facts);
  }

  recall(conversation: string, since?: number): RecalledFacts {
    if (this.closed) throw journalIsClosed('recall facts');
    return this.facts.recall(conversation, since);
  }

  sync(): void {
    if (this.closed) throw journalIsClosed('write what is pending');
  }

  call(key: CallKey): CallRecord | undefined {
    if (this.closed) throw journalIsClosed('read a call');
    return this.batchesKept.callOf(key)?.toRecord();
  }

  find(conversation: string | undefined, callId: string, turn?: string): CallRecord | undefined {
    if (this.closed) throw journalIsClosed('find a call');
    if (conversation === undefined) return this.findAnywhere(callId, turn)?.toRecord();
    return this.batchesKept.find(conversation, callId, turn)?.toRecord();
  }

  private findAnywhere(callId: string, turn: string | undefined): MemoryCall | undefined {
    const calls = [...this.batchesKept.callsOf(undefined)].filter(
      ({ entry }) => entry.callId === callId && (turn === undefined || entry.turn === turn),
    );
    return calls.findLast(({ worker }) => worker !== undefined) ?? calls.at(-1);
  }

  batch(id: string): readonly CallRecord[] {
    if (this.closed) throw journalIsClosed('read a batch');
    return (this.batchesKept.of(id)?.calls ?? []).map((call) => call.toRecord());
  }

  unfinished(conversation?: string, page?: CallPage): readonly CallRecord[] {
    if (this.closed) throw journalIsClosed('read the unfinished calls');
    const found: CallRecord[] = [];
    let isBehind = page?.after === undefined;
    for (const call of this.batchesKept.callsOf(conversation)) {
      if (found.length >= (page?.limit ?? Number.POSITIVE_INFINITY)) break;
      if (isBehind && call.result === undefined) found.push(call.toRecord());
      isBehind ||= call.key === page?.after;
    }
    return found;
  }

  queued(page: QueuedPage): readonly CallRecord[] {
    if (this.closed) throw journalIsClosed('read the queued calls');
    const { limit, after, offer, order } = page;
    const isFair = order === 'fair';
    const found: CallRecord[] = [];
    let isBehind = isFair || after === undefined;
    for (const call of this.batchesKept.callsOf(undefined)) {
      if (!isFair && found.length >= limit) break;
      if (isBehind && call.isFree && admits(call.batch.entry.placement, offer)) found.push(call.toRecord());
      isBehind ||= call.key === after;
    }
    return isFair ? fairPage(found, this.running(), page) : found;
  }

  running(): readonly RunningCount[] {
    if (this.closed) throw journalIsClosed('count the running calls');
    return countRunning(
      this.open()
        .filter(({ worker, batch }) => worker !== undefined && batch.entry.placement !== undefined)
        .map(({ batch, entry }) => ({ placement: batch.entry.placement, toolName: entry.toolName })),
    );
  }

  print(texts: readonly LiveText[], at: number): void {
    if (this.closed) throw journalIsClosed('keep live output');
    this.liveTexts.add(texts, at);
  }

  printed(places: ReadonlyMap<CallKey, number>): readonly LiveText[] {
    return this.liveTexts.from(places);
  }

  notes(key: CallKey): readonly JournalNote[] {
    if (this.closed) throw journalIsClosed('read the notes of a call');
    return [...(this.batchesKept.callOf(key)?.notes ?? [])];
  }

  kept(hash: string): Uint8Array | undefined {
    if (this.closed) throw journalIsClosed('read kept bytes');
    return this.contents.kept(hash);
  }

  decisions(batchId: string): readonly BatchDecision[] {
    if (this.closed) throw journalIsClosed('read the decisions about a batch');
    return [...(this.batchesKept.of(batchId)?.decisions ?? [])];
  }

  batches(filter: BatchFilter = {}): readonly BatchRecord[] {
    if (this.closed) throw journalIsClosed('list batches');
    const { batchesKept: kept } = this;
    const { conversation, waiting, before } = filter;
    const end = before === undefined ? kept.count : (kept.of(before)?.number ?? 0);
    return filterBatches(waiting === true ? kept.allWaiting() : kept.all(conversation), end, filter);
  }

  history(conversation: string): readonly ConversationEntry[] {
    if (this.closed) throw journalIsClosed('read a conversation');
    return this.contents.history(conversation, this.batchesKept.all(conversation));
  }

  close(): void {
    this.closed = true;
    this.batchesKept.clear();
    this.contents.clear();
    this.facts.clear();
    this.workers.clear();
  }
}

function addCall(batch: MemoryBatch, index: number, entry: CallEntry): MemoryCall {
  const call = new MemoryCall(callKey(batch.entry.id, index), batch, index, entry);
  batch.calls[index] = call;
  batch.open++;
  return call;
}
