import type { BatchEntry, CallEntry, CallKey } from '../../contract/journal.js';
import { identityOf } from '../records/call-key.js';
import { MemoryBatch, type MemoryCall } from './memory-call.js';

/**
 * The batches of a memory journal: every batch with an unfinished call, and the newest finished ones,
 * `capacity` calls in total.
 */
export class MemoryBatches {
  /**
   * The slot of each batch by its id, in order of acceptance. A map of the batches themselves would keep
   * removed ones alive in its outgrown tables.
   */
  private readonly slotOf = new Map<string, number>();
  private readonly slots: (MemoryBatch | undefined)[] = [];
  private readonly freeSlots: number[] = [];
  /** In order of acceptance. A conversation without batches has no entry. */
  private readonly byConversation = new Map<string, Set<MemoryBatch>>();
  /** First deliveries by their identity. Later deliveries attach to them. */
  private readonly first = new Map<string, MemoryCall>();
  /**
   * By conversation: how many batches contain calls that share an identity with their first delivery, or may share one.
   */
  private readonly seconds = new Map<string, number>();
  /** Finished batches in order of finishing, linked by `next`. */
  private oldest: MemoryBatch | undefined = undefined;
  private newest: MemoryBatch | undefined = undefined;
  private finishedCalls = 0;
  /** The call that was read last. */
  private recent: MemoryCall | undefined = undefined;
  /** Batches that wait for the person, in the order in which they began to wait. */
  private readonly waiting = new Set<MemoryBatch>();
  private accepted = 0;

  constructor(private readonly capacity: number) {}

  /** The number of batches ever added, which is the number of the next one. */
  get count(): number {
    return this.accepted;
  }

  add(entry: BatchEntry): MemoryBatch {
    const batch = new MemoryBatch(entry, this.accepted++);
    const slot = this.freeSlots.pop() ?? this.slots.length;
    this.slots[slot] = batch;
    this.slotOf.set(entry.id, slot);
    const others = this.byConversation.get(entry.conversation);
    if (others === undefined) this.byConversation.set(entry.conversation, new Set([batch]));
    else others.add(batch);
    if (!entry.attach) this.addSecond(batch);
    return batch;
  }

  /** A batch has a call that is not the first delivery of its identity. */
  addSecond(batch: MemoryBatch): void {
    if (batch.hasSeconds) return;
    batch.hasSeconds = true;
    const { conversation } = batch.entry;
    this.seconds.set(conversation, (this.seconds.get(conversation) ?? 0) + 1);
  }

  of(id: string): MemoryBatch | undefined {
    const slot = this.slotOf.get(id);
    return slot === undefined ? undefined : this.slots[slot];
  }

  /** In order of acceptance; of one conversation or of all. */
  all(conversation?: string): MemoryBatch[] {
    if (conversation !== undefined) return [...(this.byConversation.get(conversation) ?? [])];
    return [...this.slotOf.values()].flatMap((slot) => this.slots[slot] ?? []);
  }

  /** The batches that wait for the person, in order of acceptance. */
  allWaiting(): MemoryBatch[] {
    return [...this.waiting].sort((one, other) => one.number - other.number);
  }

  /** The call with this key. A delivery that attached has no separate key. */
  callOf(key: CallKey): MemoryCall | undefined {
    const { recent } = this;
    if (recent?.key === key) return recent;
    // Calls are read in order, so the next one is nearly always the neighbour of the last.
    const next = recent?.batch.calls[recent.index + 1];
    const call = next?.key === key ? next : this.lookUp(key);
    if (call !== undefined) this.recent = call;
    return call;
  }

  private lookUp(key: CallKey): MemoryCall | undefined {
    const slash = key.lastIndexOf('/');
    const call = this.of(key.slice(0, slash))?.calls[Number(key.slice(slash + 1))];
    return call?.key === key ? call : undefined;
  }

  /** This call will be read next. */
  expect(call: MemoryCall | undefined): void {
    if (call !== undefined) this.recent = call;
  }

  firstOf(conversation: string, entry: CallEntry): MemoryCall | undefined {
    const identity = identityOf(conversation, entry);
    return identity === undefined ? undefined : this.first.get(identity);
  }

  /** Later deliveries with this identity attach to the call. */
  makeFirst(identity: string, call: MemoryCall): void {
    this.first.set(identity, call);
  }

  /** The unfinished batch that the conversation waits for after a crash. */
  waitingOf(conversation: string): MemoryBatch | undefined {
    for (const batch of this.waiting) {
      // A batch that waits for approval blocks no other call.
      const isDeferred = batch.decisions?.at(-1)?.data.why === 'approval';
      if (!isDeferred && batch.entry.conversation === conversation) return batch;
    }
    return undefined;
  }

  setWaiting(batch: MemoryBatch, waits: boolean): void {
    if (waits) this.waiting.add(batch);
    else this.waiting.delete(batch);
  }

  /** All its calls are done: from now on it is kept only while there is room. */
  finish(batch: MemoryBatch): void {
    if (this.newest === undefined) this.oldest = batch;
    else this.newest.next = batch;
    this.newest = batch;
    this.finishedCalls += batch.weight;
    while (this.finishedCalls > this.capacity && this.oldest !== undefined) this.forget(this.oldest);
  }

  private forget(batch: MemoryBatch): void {
    this.oldest = batch.next;
    if (this.oldest === undefined) this.newest = undefined;
    // Otherwise a removed batch keeps all later ones alive until a full garbage collection.
    batch.next = undefined;
    this.finishedCalls -= batch.weight;
    this.freeSlot(batch.entry.id);
    this.leaveConversation(batch);
    if (batch.hasSeconds) this.removeSecond(batch.entry.conversation);
    this.waiting.delete(batch);
    if (this.recent?.batch === batch) this.recent = undefined;
    if (!batch.entry.attach) return;
    for (const call of batch.calls) {
      if (call.batch !== batch || call.argsText === undefined) continue;
      const identity = identityOf(batch.entry.conversation, call.entry) ?? '';
      if (this.first.get(identity) === call) this.first.delete(identity);
    }
  }

  private removeSecond(conversation: string): void {
    const left = (this.seconds.get(conversation) ?? 1) - 1;
    if (left === 0) this.seconds.delete(conversation);
    else this.seconds.set(conversation, left);
  }

  private freeSlot(id: string): void {
    const slot = this.slotOf.get(id);
    if (slot === undefined) return;
    this.slotOf.delete(id);
    this.slots[slot] = undefined;
    this.freeSlots.push(slot);
  }

  private leaveConversation(batch: MemoryBatch): void {
    const { conversation } = batch.entry;
    const others = this.byConversation.get(conversation);
    others?.delete(batch);
    if (others?.size === 0) this.byConversation.delete(conversation);
  }

  /** The delivery that the identity names: the first one, unless that was planned again. */
  find(conversation: string, callId: string, turn: string | undefined): MemoryCall | undefined {
    // A host looks up every call that it asks about, so a long conversation is read only if necessary.
    if (!this.seconds.has(conversation))
      return this.first.get(
        identityOf(conversation, turn === undefined ? { callId } : { callId, madeUp: true, turn }) ?? '',
      );
    let holder: MemoryCall | undefined;
    for (const batch of this.byConversation.get(conversation) ?? [])
      for (const call of batch.calls) {
        const { entry } = call;
        if (entry.callId !== callId || call.batch !== batch) continue;
        const isAsked =
          turn === undefined ? entry.madeUp !== true : entry.madeUp === true && entry.turn === turn;
        if (!isAsked) continue;
        if (holder === undefined || (holder.isOpen && holder.isRepeatedBy(entry))) holder = call;
      }
    return holder;
  }

  /** Each call once, in order of acceptance; of one conversation or of all. */
  *callsOf(conversation: string | undefined): Generator<MemoryCall> {
    for (const batch of this.all(conversation)) {
      for (const call of batch.calls) if (call.batch === batch) yield call;
    }
  }

  clear(): void {
    this.slotOf.clear();
    this.slots.length = 0;
    this.freeSlots.length = 0;
    this.byConversation.clear();
    this.first.clear();
    this.seconds.clear();
    this.waiting.clear();
    this.recent = undefined;
    this.oldest = undefined;
    this.newest = undefined;
  }
}
