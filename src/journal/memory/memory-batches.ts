import type { BatchEntry, CallEntry, CallKey } from '../../contract/journal.js';
import { identityOf } from '../records/call-key.js';
import { MemoryBatch, type MemoryCall } from './memory-call.js';

/**
 * The batches that a memory journal keeps: every one that has an unfinished call, and of the finished ones the newest,
 * `capacity` calls in all.
 */
export class MemoryBatches {
  /**
   * Where each batch that is kept lies in `slots`, by its id, in order of acceptance. A map of the batches themselves
   * would hold forgotten ones: the tables that it outgrows die old, with all that they named.
   */
  private readonly slotOf = new Map<string, number>();
  private readonly slots: (MemoryBatch | undefined)[] = [];
  private readonly freeSlots: number[] = [];
  /** First deliveries that later ones attach to, by their identity. */
  private readonly first = new Map<string, MemoryCall>();
  /** Finished batches, in order of finishing, linked by `next`. */
  private oldest: MemoryBatch | undefined = undefined;
  private newest: MemoryBatch | undefined = undefined;
  private finishedCalls = 0;
  /** The call that was asked for last. */
  private recent: MemoryCall | undefined = undefined;
  /** Those that wait for the person, the first one first. */
  private readonly waiting = new Set<MemoryBatch>();
  private accepted = 0;

  constructor(private readonly capacity: number) {}

  /** How many batches were ever added: the number of the next. */
  get count(): number {
    return this.accepted;
  }

  add(entry: BatchEntry): MemoryBatch {
    const batch = new MemoryBatch(entry, this.accepted++);
    const slot = this.freeSlots.pop() ?? this.slots.length;
    this.slots[slot] = batch;
    this.slotOf.set(entry.id, slot);
    return batch;
  }

  of(id: string): MemoryBatch | undefined {
    const slot = this.slotOf.get(id);
    return slot === undefined ? undefined : this.slots[slot];
  }

  all(): MemoryBatch[] {
    return [...this.slotOf.values()].flatMap((slot) => this.slots[slot] ?? []);
  }

  /** The call of this key; a key of a delivery that attached was never given out. */
  callOf(key: CallKey): MemoryCall | undefined {
    const { recent } = this;
    if (recent?.key === key) return recent;
    // Calls come batch by batch, and in order: nearly always the one behind the one that was asked for last.
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

  /** This call will be asked for next. */
  expect(call: MemoryCall | undefined): void {
    if (call !== undefined) this.recent = call;
  }

  firstOf(conversation: string, entry: CallEntry): MemoryCall | undefined {
    const identity = identityOf(conversation, entry);
    return identity === undefined ? undefined : this.first.get(identity);
  }

  /** Later deliveries of this identity attach to it; it has one. */
  makeFirst(identity: string, call: MemoryCall): void {
    this.first.set(identity, call);
  }

  /** The batch that a crash left half done, and that a conversation waits for. */
  waitingOf(conversation: string): MemoryBatch | undefined {
    for (const batch of this.waiting) {
      // What waits for approval blocks no other call.
      const isDeferred = batch.decisions?.at(-1)?.data.why === 'approval';
      if (!isDeferred && batch.entry.conversation === conversation) return batch;
    }
    return undefined;
  }

  setWaiting(batch: MemoryBatch, waits: boolean): void {
    if (waits) this.waiting.add(batch);
    else this.waiting.delete(batch);
  }

  /** All its calls are done: from now on it is kept while there is room. */
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
    // Else what is forgotten holds all that came after it, until the whole heap is collected.
    batch.next = undefined;
    this.finishedCalls -= batch.weight;
    this.freeSlot(batch.entry.id);
    this.waiting.delete(batch);
    if (this.recent?.batch === batch) this.recent = undefined;
    if (!batch.entry.attach) return;
    for (const call of batch.calls) {
      if (call.batch !== batch || call.argsText === undefined) continue;
      const identity = identityOf(batch.entry.conversation, call.entry) ?? '';
      if (this.first.get(identity) === call) this.first.delete(identity);
    }
  }

  private freeSlot(id: string): void {
    const slot = this.slotOf.get(id);
    if (slot === undefined) return;
    this.slotOf.delete(id);
    this.slots[slot] = undefined;
    this.freeSlots.push(slot);
  }

  /** Each call once, in order of acceptance; of one conversation, or of all. */
  *callsOf(conversation: string | undefined): Generator<MemoryCall> {
    for (const batch of this.all()) {
      if (conversation !== undefined && batch.entry.conversation !== conversation) continue;
      for (const call of batch.calls) if (call.batch === batch) yield call;
    }
  }

  clear(): void {
    this.slotOf.clear();
    this.slots.length = 0;
    this.freeSlots.length = 0;
    this.first.clear();
    this.waiting.clear();
    this.recent = undefined;
    this.oldest = undefined;
    this.newest = undefined;
  }
}
