import type { CallKey, CallRecord } from '../contract/journal.js';

/** The calls without a result, as last read from the journal: by key, and by batch. */
export class OpenCalls {
  readonly #calls = new Map<CallKey, CallRecord>();
  readonly #batches = new Map<string, Set<CallKey>>();
  readonly #running = new Set<CallKey>();

  get(key: CallKey): CallRecord | undefined {
    return this.#calls.get(key);
  }

  set(record: CallRecord): void {
    const { key, batchId, state } = record;
    this.#calls.set(key, record);
    if (state === 'running') this.#running.add(key);
    const batch = this.#batches.get(batchId);
    if (batch === undefined) this.#batches.set(batchId, new Set([key]));
    else batch.add(key);
  }

  delete(key: CallKey): void {
    const record = this.#calls.get(key);
    if (record === undefined) return;
    this.#calls.delete(key);
    this.#running.delete(key);
    const batch = this.#batches.get(record.batchId);
    batch?.delete(key);
    if (batch?.size === 0) this.#batches.delete(record.batchId);
  }

  all(): readonly CallRecord[] {
    return [...this.#calls.values()];
  }

  ofBatch(id: string): readonly CallRecord[] {
    return this.#records(this.#batches.get(id) ?? []);
  }

  running(): readonly CallRecord[] {
    return this.#records(this.#running);
  }

  #records(keys: Iterable<CallKey>): readonly CallRecord[] {
    return [...keys].flatMap((key) => this.#calls.get(key) ?? []);
  }
}
