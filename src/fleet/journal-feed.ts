import type { Clock, Logger } from '../contract/context.js';
import type { BatchRecord, CallKey, CallRecord, Journal } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import { reasonOf } from '../executor/answer/results.js';
import { asDecided } from '../executor/record/attach.js';
import { conversationName, type ShownBatch, stateOf, tenantOf } from './tenant-desk.js';

/** Pauses between two looks, in milliseconds: with subscribers, and without. */
const LOOK_MS = 100;
const IDLE_MS = 1_000;
/** The number of new batches that one look may find; more are a gap. */
const MOST_NEW = 200;
/** The number of batches that are remembered as seen. */
const MOST_SEEN = 10_000;
/** The number of events that wait for a slow reader. */
const MOST_PENDING = 1_000;

export interface FeedEvent {
  readonly type: 'call' | 'batch' | 'gap';
  readonly data: JsonObject;
}

export interface FeedCounts {
  /** Calls that workers have started. */
  claims: number;
  /** Results, by `success` or the code of their error. */
  readonly results: Map<string, number>;
}

interface FeedParts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called after each look with the calls that are not done. */
  readonly looked: (open: readonly CallRecord[]) => Promise<void>;
}

/**
 * The changes in a journal, whichever process makes them, for readers who each see one tenant.
 *
 * 1. A change is an event once. What a slow reader misses is an event too, `gap` with a number.
 * 2. Results are whole: they are read from the journal.
 */
export class JournalFeed {
  readonly counts: FeedCounts = { claims: 0, results: new Map() };
  readonly #parts: FeedParts;
  readonly #calls = new Map<CallKey, CallRecord>();
  readonly #batches = new Map<string, ShownBatch['state']>();
  readonly #seen = new Set<string>();
  readonly #readers = new Set<FeedReader>();
  #hasBegun = false;
  #isClosed = false;
  #wake = (): void => {};
  readonly #looking: Promise<void>;

  constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#looking = this.#lookAgain();
  }

  get readers(): number {
    return this.#readers.size;
  }

  /** Events of one tenant, from the state that its batches are in now. */
  subscribe(tenant: string, conversation: string | undefined): FeedReader {
    const reader = new FeedReader(tenant, conversation, () => this.#readers.delete(reader));
    const shown = new Set<string>();
    for (const record of this.#calls.values()) {
      if (shown.has(record.batchId)) continue;
      shown.add(record.batchId);
      const state = this.#batches.get(record.batchId);
      if (state !== undefined) this.#send(record, 'batch', { id: record.batchId, state }, [reader]);
    }
    this.#readers.add(reader);
    this.#wake();
    return reader;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    for (const reader of this.#readers) reader.end();
    await this.#looking;
  }

  async #lookAgain(): Promise<void> {
    const { clock, logger } = this.#parts;
    while (!this.#isClosed) {
      try {
        await this.#look();
      } catch (error) {
        logger.error({ why: reasonOf(error) }, 'a fleet server could not read its journal');
      }
      if (this.#isClosed) return;
      await new Promise<void>((resolve) => {
        const forget = clock.after(this.#readers.size > 0 ? LOOK_MS : IDLE_MS, resolve);
        this.#wake = () => {
          forget();
          resolve();
        };
      });
    }
  }

  async #look(): Promise<void> {
    const { journal, looked } = this.#parts;
    const fresh = await this.#newBatches();
    const open = await journal.unfinished();
    const changed = new Map<string, CallRecord>();
    for (const record of open) if (this.#isChanged(record)) changed.set(record.batchId, record);
    const keys = new Set(open.map(({ key }) => key));
    const told = new Set<CallKey>();
    for (const key of [...this.#calls.keys()]) {
      if (keys.has(key)) continue;
      told.add(key);
      const record = await journal.call(key);
      if (record?.result === undefined) this.#calls.delete(key);
      else if (this.#isChanged(record)) changed.set(record.batchId, record);
    }
    for (const { id } of fresh) {
      for (const record of await journal.batch(id))
        if (record.batchId === id && record.result !== undefined && !told.has(record.key))
          if (this.#isChanged(record)) changed.set(id, record);
    }
    for (const record of changed.values()) this.#tellState(record, open);
    this.#hasBegun = true;
    await looked(open);
  }

  /** Batches that no look has seen. None in the first look: they belong to the past. */
  async #newBatches(): Promise<readonly BatchRecord[]> {
    const { journal } = this.#parts;
    const newest = await journal.batches({ limit: MOST_NEW });
    const fresh = newest.filter(({ id }) => !this.#seen.has(id));
    for (const { id } of fresh) this.#seen.add(id);
    for (const id of this.#seen) {
      if (this.#seen.size <= MOST_SEEN) break;
      this.#seen.delete(id);
    }
    if (!this.#hasBegun) return [];
    if (fresh.length === MOST_NEW) for (const reader of this.#readers) reader.missed();
    return fresh;
  }

  #isChanged(record: CallRecord): boolean {
    const before = this.#calls.get(record.key);
    const { key, result, state } = record;
    if (result === undefined) this.#calls.set(key, record);
    else this.#calls.delete(key);
    const isSame = before?.state === state && before.decision === record.decision;
    if (isSame) return false;
    if (!this.#hasBegun) return true;
    if (record.startedAt !== undefined && before?.startedAt === undefined) this.counts.claims += 1;
    if (result !== undefined) {
      const outcome = result.success ? 'success' : result.error.code;
      this.counts.results.set(outcome, (this.counts.results.get(outcome) ?? 0) + 1);
    }
    if (before?.state !== state) this.#tellCall(record);
    return true;
  }

  #tellCall(record: CallRecord): void {
    const { batchId, callId, toolName, state, result } = record;
    const more = result === undefined ? {} : { result: asDecided(record, result) };
    // A result is plain JSON, but for bytes, which become base64.
    this.#send(record, 'call', { batchId, callId, toolName, state, ...more } as unknown as JsonObject);
  }

  #tellState(record: CallRecord, open: readonly CallRecord[]): void {
    const id = record.batchId;
    const left = open.filter(({ batchId }) => batchId === id);
    const state = left.length === 0 ? 'done' : stateOf(left);
    if (this.#batches.get(id) === state) return;
    if (state === 'done') this.#batches.delete(id);
    else this.#batches.set(id, state);
    if (this.#hasBegun) this.#send(record, 'batch', { id, state });
  }

  #send(
    record: CallRecord,
    type: FeedEvent['type'],
    data: JsonObject,
    readers: Iterable<FeedReader> = this.#readers,
  ): void {
    const tenant = tenantOf(record, this.#parts.journal);
    const conversation = conversationName(record.conversation);
    for (const reader of readers)
      reader.offer(tenant, conversation, { type, data: { ...data, conversation } });
  }
}

/** One reader of the feed. Its events wait until it reads them. */
export class FeedReader {
  readonly #tenant: string;
  readonly #conversation: string | undefined;
  readonly #left: () => void;
  readonly #pending: FeedEvent[] = [];
  #missed = 0;
  #isEnded = false;
  #wake = (): void => {};

  constructor(tenant: string, conversation: string | undefined, left: () => void) {
    this.#tenant = tenant;
    this.#conversation = conversation;
    this.#left = left;
  }

  offer(tenant: string, conversation: string, event: FeedEvent): void {
    if (tenant !== this.#tenant || (this.#conversation ?? conversation) !== conversation) return;
    if (this.#pending.length >= MOST_PENDING) this.#missed += 1;
    else this.#pending.push(event);
    this.#wake();
  }

  /** Events were lost before they could be offered. */
  missed(): void {
    this.#missed += 1;
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#left();
    this.#wake();
  }

  /** The next events; none after `ms` without one. Undefined: the feed has ended. */
  async next(ms: number, clock: Clock): Promise<readonly FeedEvent[] | undefined> {
    if (this.#pending.length === 0 && this.#missed === 0 && !this.#isEnded) {
      await new Promise<void>((resolve) => {
        const forget = clock.after(ms, resolve);
        this.#wake = () => {
          forget();
          resolve();
        };
      });
    }
    if (this.#isEnded) return undefined;
    const events = this.#pending.splice(0);
    const missed = this.#missed;
    this.#missed = 0;
    return missed === 0 ? events : [...events, { type: 'gap', data: { missed } }];
  }
}
