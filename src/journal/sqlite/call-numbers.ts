import type { CallKey } from '../../contract/journal.js';

/** The maximum number of unfinished calls whose number is kept in memory. */
const REMEMBERED_CALLS = 10_000;

/** The numbers of calls by their keys. Entries of an open transaction count after its commit. */
export class CallNumbers {
  private readonly committed = new Map<CallKey, number>();
  private readonly fresh = new Map<CallKey, number>();
  private readonly found = new Map<CallKey, number>();

  get(key: CallKey): number | undefined {
    return this.fresh.get(key) ?? this.committed.get(key) ?? this.found.get(key);
  }

  /** For a call that the open transaction adds. */
  add(key: CallKey, number: number): void {
    this.fresh.set(key, number);
  }

  /** For a call found in the file: its row may belong to the open transaction, and vanish with it. */
  find(key: CallKey, number: number): void {
    this.found.set(key, number);
  }

  isFresh(key: CallKey): boolean {
    return this.fresh.has(key);
  }

  get unfinished(): number {
    return this.committed.size;
  }

  forget(key: CallKey): void {
    this.committed.delete(key);
    this.fresh.delete(key);
    this.found.delete(key);
  }

  commit(): void {
    for (const [key, number] of this.fresh) this.remember(key, number);
    for (const [key, number] of this.found) this.remember(key, number);
    this.rollback();
  }

  rollback(): void {
    // Clearing an empty map would allocate a new one.
    if (this.fresh.size > 0) this.fresh.clear();
    if (this.found.size > 0) this.found.clear();
  }

  private remember(key: CallKey, number: number): void {
    this.committed.set(key, number);
    if (this.committed.size <= REMEMBERED_CALLS) return;
    const oldest = this.committed.keys().next();
    if (oldest.done !== true) this.committed.delete(oldest.value);
  }
}
