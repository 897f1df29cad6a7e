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
  ConversationEntry,
  ConversationMessage,
  Journal,
  JournalNote,
  Worker,
} from '../contract/journal.js';
import type { ToolResult } from '../contract/result.js';
import { ToolError } from '../errors/tool-error.js';
import { callKey } from './call-key.js';
import { batchIsKnown, batchIsUnknown, callIsUnknown, journalIsClosed } from './journal-unavailable.js';
import { lateNote } from './late-note.js';
import { MemoryBatch, MemoryCall } from './memory-call.js';
import { filterBatches, MemoryContents } from './memory-contents.js';

export interface MemoryJournalOptions {
  /** Calls of finished batches that are kept; the oldest batches go first. Default 1,000. */
  readonly capacity?: number;
}

/**
 * A journal that lives and dies with the process: every answer is a plain value. It keeps every batch that has an
 * unfinished call, and of the finished ones the newest, `capacity` calls in all. Of an older call it knows nothing
 * any more: a second delivery of it is `fresh`, and a late finish is answered `late` without being kept.
 *
 * Arguments and results are kept as they are given, not copied.
 *
 * @throws ToolError `config_invalid` when `capacity` is no whole number from 0 on.
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
  /** Every batch that is kept, in order of acceptance. */
  private readonly byId = new Map<string, MemoryBatch>();
  /** First deliveries that later ones attach to, by conversation and call id. */
  private readonly first = new Map<string, MemoryCall>();
  /** Finished batches, in order of finishing, linked by `next`. */
  private oldest: MemoryBatch | undefined = undefined;
  private newest: MemoryBatch | undefined = undefined;
  private finishedCalls = 0;
  /** One of `batches`. */
  private recent: MemoryBatch | undefined = undefined;
  /** Those that wait for the person, the first one first. */
  private readonly waiting = new Set<MemoryBatch>();
  private accepted = 0;
  private readonly contents: MemoryContents;

  constructor(private readonly capacity: number) {
    this.contents = new MemoryContents(capacity);
  }

  accept(entry: BatchEntry): readonly Acceptance[] {
    if (this.closed) throw journalIsClosed('accept a batch');
    if (this.byId.has(entry.id)) throw batchIsKnown(entry.id);
    const blocker = entry.attach && this.waiting.size > 0 ? this.findWaiting(entry.conversation) : undefined;
    if (blocker !== undefined) return this.answerWaiting(entry, blocker);
    const batch = new MemoryBatch(entry, this.accepted++);
    this.byId.set(entry.id, batch);
    this.recent = batch;
    const inBatch = entry.calls.length > 1 ? new Map<string, MemoryCall>() : undefined;
    const answers = entry.calls.map((call, index) => this.acceptCall(batch, index, call, inBatch));
    if (batch.open === 0) this.keepFinished(batch);
    return answers;
  }

  private findWaiting(conversation: string): MemoryBatch | undefined {
    for (const batch of this.waiting) if (batch.entry.conversation === conversation) return batch;
    return undefined;
  }

  private answerWaiting(
    { id, conversation, calls }: BatchEntry,
    blocker: MemoryBatch,
  ): readonly Acceptance[] {
    const why = blocker.decisions?.at(-1)?.data.why;
    const waits = { batchId: blocker.entry.id, ...(typeof why === 'string' ? { why } : {}) };
    const seen = new Set<string>();
    return calls.map((call, index) => {
      const isFirst = !seen.has(call.callId);
      seen.add(call.callId);
      const earlier = isFirst ? this.first.get(nameOf(conversation, call.callId)) : undefined;
      return earlier?.isRepeatedBy(call) === true && !earlier.isOpen
        ? { kind: 'known', key: earlier.key, record: earlier.toRecord() }
        : { kind: 'waits', key: callKey(id, index), ...waits };
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
    const named = attach ? this.first.get(nameOf(conversation, entry.callId)) : undefined;
    // Nobody has decided about an open one yet: the same call again is one of its own, and takes over the name.
    const earlier = twin ?? (named?.isOpen && named.isRepeatedBy(entry) ? undefined : named);
    if (earlier !== undefined && twin === undefined && earlier.isRepeatedBy(entry)) {
      batch.calls[index] = earlier;
      inBatch?.set(entry.callId, earlier);
      return { kind: 'known', key: earlier.key, record: earlier.toRecord() };
    }
    const call = this.addCall(batch, index, entry);
    if (earlier !== undefined) {
      inBatch?.set(entry.callId, earlier);
      return { kind: 'conflict', key: call.key, record: earlier.toRecord() };
    }
    inBatch?.set(entry.callId, call);
    if (attach) {
      call.argsText = JSON.stringify(entry.args);
      this.first.set(nameOf(conversation, entry.callId), call);
    }
    return { kind: 'fresh', key: call.key };
  }

  private addCall(batch: MemoryBatch, index: number, entry: CallEntry): MemoryCall {
    const call = new MemoryCall(callKey(batch.entry.id, index), batch, index, entry);
    batch.calls[index] = call;
    batch.open++;
    return call;
  }

  claim(key: CallKey, worker: Worker, at: number): boolean {
    if (this.closed) throw journalIsClosed('claim a call');
    const call = this.callOf(key);
    if (call === undefined || call.worker !== undefined || call.result !== undefined) return false;
    call.worker = worker;
    call.startedAt = at;
    return true;
  }

  note(key: CallKey, note: JournalNote): void {
    if (this.closed) throw journalIsClosed('note a fact');
    const call = this.callOf(key);
    if (call === undefined) throw callIsUnknown('note a fact of', key);
    call.notes ??= [];
    call.notes.push(note);
  }

  finish(key: CallKey, result: ToolResult, at: number): 'recorded' | 'late' {
    if (this.closed) throw journalIsClosed('record a result');
    const call = this.callOf(key);
    // A call that is not kept any more had its answer long ago.
    if (call === undefined) return 'late';
    if (call.result !== undefined) {
      this.note(key, lateNote(result, at));
      return 'late';
    }
    call.result = result;
    call.finishedAt = at;
    call.batch.open--;
    if (call.batch.open === 0) this.keepFinished(call.batch);
    return 'recorded';
  }

  /** The call of this key; a key of a delivery that attached was never given out. */
  private callOf(key: CallKey): MemoryCall | undefined {
    const slash = key.lastIndexOf('/');
    const call = this.batchOf(key, slash)?.calls[Number(key.slice(slash + 1))];
    return call?.key === key ? call : undefined;
  }

  private batchOf(key: CallKey, slash: number): MemoryBatch | undefined {
    const { recent } = this;
    // Calls come batch by batch: nearly always the one that was asked for last.
    if (recent?.entry.id.length === slash && key.startsWith(recent.entry.id)) return recent;
    const found = this.byId.get(key.slice(0, slash));
    this.recent = found ?? recent;
    return found;
  }

  private keepFinished(batch: MemoryBatch): void {
    if (this.newest === undefined) this.oldest = batch;
    else this.newest.next = batch;
    this.newest = batch;
    this.finishedCalls += batch.weight;
    while (this.finishedCalls > this.capacity && this.oldest !== undefined) this.forget(this.oldest);
  }

  private forget(batch: MemoryBatch): void {
    this.oldest = batch.next;
    if (this.oldest === undefined) this.newest = undefined;
    this.finishedCalls -= batch.weight;
    this.byId.delete(batch.entry.id);
    this.waiting.delete(batch);
    if (this.recent === batch) this.recent = undefined;
    if (!batch.entry.attach) return;
    for (const call of batch.calls) {
      if (call.batch !== batch || call.argsText === undefined) continue;
      const name = nameOf(batch.entry.conversation, call.entry.callId);
      if (this.first.get(name) === call) this.first.delete(name);
    }
  }

  keep(bytes: Uint8Array): string {
    if (this.closed) throw journalIsClosed('keep bytes');
    return this.contents.keep(bytes);
  }

  decide(batchId: string, decision: BatchDecision): boolean {
    if (this.closed) throw journalIsClosed('decide about a batch');
    const batch = this.byId.get(batchId);
    if (batch === undefined) throw batchIsUnknown('decide about', batchId);
    const counts = batch.decide(decision);
    if (counts && decision.kind === 'wait') this.waiting.add(batch);
    else if (counts) this.waiting.delete(batch);
    return counts;
  }

  message(conversation: string, message: ConversationMessage): void {
    if (this.closed) throw journalIsClosed('record a message');
    this.contents.send(conversation, message, this.accepted);
  }

  sync(): void {
    if (this.closed) throw journalIsClosed('write what is pending');
  }

  call(key: CallKey): CallRecord | undefined {
    if (this.closed) throw journalIsClosed('read a call');
    return this.callOf(key)?.toRecord();
  }

  find(conversation: string | undefined, callId: string): CallRecord | undefined {
    if (this.closed) throw journalIsClosed('find a call');
    if (conversation === undefined) return this.findAnywhere(callId)?.toRecord();
    let holder: MemoryCall | undefined;
    for (const call of this.callsOf(conversation)) {
      if (call.entry.callId !== callId) continue;
      if (holder === undefined || (holder.isOpen && holder.isRepeatedBy(call.entry))) holder = call;
    }
    return holder?.toRecord();
  }

  private findAnywhere(callId: string): MemoryCall | undefined {
    const calls = [...this.callsOf(undefined)].filter(({ entry }) => entry.callId === callId);
    return calls.findLast(({ worker }) => worker !== undefined) ?? calls.at(-1);
  }

  batch(id: string): readonly CallRecord[] {
    if (this.closed) throw journalIsClosed('read a batch');
    return (this.byId.get(id)?.calls ?? []).map((call) => call.toRecord());
  }

  unfinished(conversation?: string, page?: CallPage): readonly CallRecord[] {
    if (this.closed) throw journalIsClosed('read the unfinished calls');
    const found: CallRecord[] = [];
    let isBehind = page?.after === undefined;
    for (const call of this.callsOf(conversation)) {
      if (found.length >= (page?.limit ?? Number.POSITIVE_INFINITY)) break;
      if (isBehind && call.result === undefined) found.push(call.toRecord());
      isBehind ||= call.key === page?.after;
    }
    return found;
  }

  notes(key: CallKey): readonly JournalNote[] {
    if (this.closed) throw journalIsClosed('read the notes of a call');
    return [...(this.callOf(key)?.notes ?? [])];
  }

  kept(hash: string): Uint8Array | undefined {
    if (this.closed) throw journalIsClosed('read kept bytes');
    return this.contents.kept(hash);
  }

  decisions(batchId: string): readonly BatchDecision[] {
    if (this.closed) throw journalIsClosed('read the decisions about a batch');
    return [...(this.byId.get(batchId)?.decisions ?? [])];
  }

  batches(filter: BatchFilter = {}): readonly BatchRecord[] {
    if (this.closed) throw journalIsClosed('list batches');
    return filterBatches([...this.byId.values()], filter);
  }

  history(conversation: string): readonly ConversationEntry[] {
    if (this.closed) throw journalIsClosed('read a conversation');
    const batches = [...this.byId.values()].filter(({ entry }) => entry.conversation === conversation);
    return this.contents.history(conversation, batches);
  }

  close(): void {
    this.closed = true;
    this.byId.clear();
    this.recent = undefined;
    this.first.clear();
    this.contents.clear();
    this.waiting.clear();
    this.oldest = undefined;
    this.newest = undefined;
  }

  /** Each call once, in order of acceptance; of one conversation, or of all. */
  private *callsOf(conversation: string | undefined): Generator<MemoryCall> {
    for (const batch of this.byId.values()) {
      if (conversation !== undefined && batch.entry.conversation !== conversation) continue;
      for (const call of batch.calls) if (call.batch === batch) yield call;
    }
  }
}

/** The length keeps `("a", "b c")` apart from `("a b", "c")`. */
function nameOf(conversation: string, callId: string): string {
  return `${conversation.length} ${conversation}${callId}`;
}
