import { randomBytes } from 'node:crypto';
import type { Clock, Logger } from '../contract/context.js';
import type { BatchRecord, CallRecord, Journal } from '../contract/journal.js';
import { reasonOf } from '../executor/answer/results.js';
import { EventRing } from './event-ring.js';
import { type FeedEvent, type FeedInterest, FeedReader, type MissedText } from './feed-reader.js';
import { OpenCalls } from './open-calls.js';
import { OutputFeed } from './output-feed.js';
import { shownResult } from './shown-result.js';
import { conversationName, type ShownBatch, stateOf, tenantOf } from './tenant-desk.js';

/** Pauses between two polls, in milliseconds: with subscribers, and without. */
const LOOK_MS = 100;
const IDLE_MS = 1_000;
/** Every call is read again after this time, in case a change was missed. In milliseconds. */
const WHOLE_MS = 30_000;
/** A pause lasts at least this many times as long as the poll before it. */
const SHARE = 4;
/** The number of new batches that one poll may find; if there are more, it reports a gap. */
const MOST_NEW = 200;
/** The number of batches that are remembered as seen. */
const MOST_SEEN = 10_000;
/**
 * Live output is still read for this time after a reader disconnects, because the reader may return. In milliseconds.
 */
const ABSENCE_MS = 60_000;
/** Clocks of machines differ, so a reader that comes from another server gets some events again. In milliseconds. */
const SKEW_MS = 5_000;

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
  /** Called about once a second, after a poll, with the calls that are not done. */
  readonly looked: (open: readonly CallRecord[]) => Promise<void>;
}

/** The result of one poll. */
interface Look {
  /** Batches that no earlier poll has seen. */
  readonly newest: readonly Pick<BatchRecord, 'id'>[];
  /** There are more new batches than one poll reads. */
  readonly isPartial: boolean;
  /** Calls without a result: all of them, or those that may have changed. */
  readonly open: readonly CallRecord[];
  /** Calls that ended since the last poll. */
  readonly ended: readonly CallRecord[];
  /** For the next poll. Undefined: it reads everything. */
  readonly mark: string | undefined;
  readonly wholeAt: number;
}

/**
 * Reports the changes that any process makes in a journal. Each reader sees one tenant.
 *
 * 1. Each change is one event. A failed poll reports nothing, and the next one reports everything. A poll reads only
 *    changed calls, if the journal knows them; from time to time it reads all calls without a result.
 * 2. Results are whole: they are read from the journal. Live output may have gaps, and each is an event.
 * 3. A returning reader gets the events it has missed from this server's memory. If they are gone, it gets those that
 *    the journal still has, and a gap.
 */
export class JournalFeed {
  readonly counts: FeedCounts = { claims: 0, results: new Map() };
  readonly #parts: FeedParts;
  readonly #calls = new OpenCalls();
  readonly #batches = new Map<string, ShownBatch['state']>();
  readonly #seen = new Set<string>();
  readonly #readers = new Set<FeedReader>();
  readonly #joining = new Set<FeedReader>();
  /** Readers that have disconnected, and the time until which they are expected back. */
  readonly #absent = new Map<FeedReader, number>();
  readonly #ring = new EventRing(randomBytes(4).toString('hex'));
  readonly #output: OutputFeed;
  /** The position up to which the changes of the journal were read. */
  #mark: string | undefined;
  #wholeAt = Number.NEGATIVE_INFINITY;
  #passedOnAt = Number.NEGATIVE_INFINITY;
  #hasBegun = false;
  #isClosed = false;
  #wake = (): void => {};
  readonly #looking: Promise<void>;

  constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#output = new OutputFeed(parts.journal);
    this.#looking = this.#lookAgain();
  }

  get readers(): number {
    return this.#readers.size + this.#joining.size;
  }

  /** Events of one tenant, starting with the current state of its batches, or after the reader's last event. */
  subscribe(interest: FeedInterest): FeedReader {
    const reader = new FeedReader(interest, () => {
      this.#joining.delete(reader);
      if (this.#readers.delete(reader)) this.#absent.set(reader, this.#parts.clock.monotonic() + ABSENCE_MS);
    });
    this.#joining.add(reader);
    this.#wake();
    return reader;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    for (const reader of [...this.#readers, ...this.#joining]) reader.end();
    await this.#looking;
  }

  async #lookAgain(): Promise<void> {
    const { clock, logger } = this.#parts;
    while (!this.#isClosed) {
      const begun = clock.monotonic();
      try {
        await this.#look();
      } catch (error) {
        logger.error({ why: reasonOf(error) }, 'a fleet server could not read its journal');
      }
      if (this.#isClosed) return;
      if (this.#joining.size > 0 && this.#hasBegun) continue;
      const pauseMs = Math.max(
        this.#readers.size > 0 ? LOOK_MS : IDLE_MS,
        SHARE * (clock.monotonic() - begun),
      );
      await new Promise<void>((resolve) => {
        const forget = clock.after(pauseMs, resolve);
        this.#wake = () => {
          forget();
          resolve();
        };
      });
    }
  }

  async #look(): Promise<void> {
    const { clock, looked } = this.#parts;
    const joining = [...this.#joining];
    const look = await this.#readJournal();
    const isRunning = ({ state }: CallRecord): boolean => state === 'running';
    const running = new Map(
      [...this.#calls.running(), ...look.open.filter(isRunning)].map((one) => [one.key, one]),
    );
    for (const { key } of look.ended) running.delete(key);
    const printing = [...running.values(), ...look.ended].filter((record) => this.#isWanted(record));
    for (const { record, type, data, text } of await this.#output.look(printing))
      this.#send(record, { type, data }, text);
    this.#report(look);
    this.#mark = look.mark;
    this.#wholeAt = look.wholeAt;
    this.#hasBegun = true;
    this.#output.forget((key) => this.#calls.get(key) === undefined);
    for (const reader of joining) await this.#greet(reader, this.#calls.all());
    if (clock.monotonic() - this.#passedOnAt < IDLE_MS) return;
    this.#passedOnAt = clock.monotonic();
    await looked(this.#calls.all());
  }

  async #readJournal(): Promise<Look> {
    const { journal, clock } = this.#parts;
    const now = clock.monotonic();
    const mark = now - this.#wholeAt < WHOLE_MS ? this.#mark : undefined;
    const found = await journal.changes?.(mark);
    if (found === undefined || found.isWhole) {
      const read = await this.#readAll(found?.calls ?? (await journal.unfinished()));
      return { ...read, mark: found?.mark, wholeAt: now };
    }
    const ended = found.calls.filter(({ result }) => result !== undefined);
    return {
      mark: found.mark,
      wholeAt: this.#wholeAt,
      newest: found.calls.map(({ batchId }) => ({ id: batchId })),
      isPartial: false,
      open: found.calls.filter(({ result }) => result === undefined),
      // Calls that ended earlier and are read again were already reported.
      ended: ended.filter(
        ({ key, batchId }) => this.#calls.get(key) !== undefined || !this.#seen.has(batchId),
      ),
    };
  }

  async #readAll(open: readonly CallRecord[]): Promise<Omit<Look, 'mark' | 'wholeAt'>> {
    const { journal } = this.#parts;
    const newest = await journal.batches({ limit: MOST_NEW });
    // None in the first poll: they belong to the past.
    const fresh = this.#hasBegun ? newest.filter(({ id }) => !this.#seen.has(id)) : [];
    const keys = new Set(open.map(({ key }) => key));
    const gone = this.#calls.all().filter(({ key }) => !keys.has(key));
    const known = await Promise.all(gone.map(({ key }) => journal.call(key)));
    const delivered = await Promise.all(fresh.map(({ id }) => journal.batch(id)));
    const others = delivered.flatMap((calls, index) =>
      calls.filter(({ batchId, key }) => batchId === fresh[index]?.id && this.#calls.get(key) === undefined),
    );
    for (const [index, { key }] of gone.entries())
      if (known[index]?.result === undefined) this.#calls.delete(key);
    const ended = [...known, ...others].filter((record) => record?.result !== undefined);
    return { newest, isPartial: fresh.length === MOST_NEW, open, ended: ended as readonly CallRecord[] };
  }

  #report({ newest, isPartial, open, ended }: Look): void {
    for (const { id } of newest) this.#seen.add(id);
    for (const id of this.#seen) {
      if (this.#seen.size <= MOST_SEEN) break;
      this.#seen.delete(id);
    }
    if (isPartial) for (const reader of this.#readers) reader.missed();
    const changed = new Map<string, CallRecord>();
    for (const record of [...open, ...ended])
      if (this.#isChanged(record)) changed.set(record.batchId, record);
    for (const record of changed.values()) this.#reportState(record);
  }

  #isWanted(record: CallRecord): boolean {
    const now = this.#parts.clock.monotonic();
    for (const [reader, until] of this.#absent) if (until < now) this.#absent.delete(reader);
    const tenant = tenantOf(record, this.#parts.journal);
    const conversation = conversationName(record.conversation);
    for (const readers of [this.#readers, this.#absent.keys()])
      for (const reader of readers) if (reader.sees(tenant, conversation)) return true;
    return false;
  }

  #isChanged(record: CallRecord): boolean {
    const before = this.#calls.get(record.key);
    const { key, result, state } = record;
    if (result === undefined) this.#calls.set(record);
    else this.#calls.delete(key);
    const isSame = before?.state === state && before.decision === record.decision;
    if (isSame) return false;
    if (!this.#hasBegun) return true;
    if (record.startedAt !== undefined && before?.startedAt === undefined) this.counts.claims += 1;
    if (result !== undefined) {
      const outcome = result.success ? 'success' : result.error.code;
      this.counts.results.set(outcome, (this.counts.results.get(outcome) ?? 0) + 1);
    }
    if (before?.state !== state) this.#send(record, { type: 'call', data: toCallData(record) });
    return true;
  }

  #reportState(record: CallRecord): void {
    const id = record.batchId;
    const left = this.#calls.ofBatch(id);
    const state = left.length === 0 ? 'done' : stateOf(left);
    if (this.#batches.get(id) === state) return;
    if (state === 'done') this.#batches.delete(id);
    else this.#batches.set(id, state);
    if (this.#hasBegun) this.#send(record, { type: 'batch', data: { id, state } });
  }

  #send(record: CallRecord, { type, data }: NewEvent, text?: MissedText): void {
    const tenant = tenantOf(record, this.#parts.journal);
    const conversation = conversationName(record.conversation);
    const named = { type, data: JSON.stringify({ ...data, conversation }) };
    const { event } = this.#ring.add(this.#parts.clock.now(), { tenant, conversation, event: named, text });
    for (const reader of this.#readers) if (reader.sees(tenant, conversation)) reader.offer(event, text);
  }

  /** Brings a reader to the present; from then on it gets every event. */
  async #greet(reader: FeedReader, open: readonly CallRecord[]): Promise<void> {
    const { clock } = this.#parts;
    const missed = this.#ring.since(reader.interest);
    const id = this.#ring.lastId(clock.now());
    const offer = ({ type, data }: NewEvent, text?: MissedText): void =>
      reader.offer({ type, id, data: JSON.stringify(data) }, text);
    if (missed === undefined || 'seenAt' in missed) {
      const own = open.filter((record) => this.#isSeenBy(reader, record));
      if (missed !== undefined) await this.#replay(reader, missed.seenAt, offer);
      for (const { type, data, text } of await this.#output.fromStart(
        own.filter(({ state }) => state === 'running'),
      ))
        offer({ type, data }, text);
      for (const [batchId, record] of new Map(own.map((call) => [call.batchId, call]))) {
        const state = this.#batches.get(batchId);
        const conversation = conversationName(record.conversation);
        if (state !== undefined) offer({ type: 'batch', data: { id: batchId, state, conversation } });
      }
    } else {
      for (const { tenant, conversation, event, text } of missed)
        if (reader.sees(tenant, conversation)) reader.offer(event, text);
    }
    if (this.#joining.delete(reader)) this.#readers.add(reader);
  }

  /** The events after a reader's last one, from the journal. Live output of that time is gone. */
  async #replay(reader: FeedReader, at: number, offer: (event: NewEvent) => void): Promise<void> {
    const { journal } = this.#parts;
    const newest = await journal.batches({ limit: MOST_NEW });
    for (const { id } of newest.toReversed()) {
      for (const record of await journal.batch(id)) {
        const { batchId, finishedAt, conversation: stored } = record;
        if (batchId !== id || !this.#isSeenBy(reader, record)) continue;
        const conversation = conversationName(stored);
        if ((finishedAt ?? Number.POSITIVE_INFINITY) < at - SKEW_MS) continue;
        offer({ type: 'call', data: { ...toCallData(record), conversation } });
      }
    }
    const isWhole = at > 0 && newest.length < MOST_NEW;
    offer({ type: 'gap', data: { missed: null, of: isWhole ? 'characters' : 'events' } });
  }

  #isSeenBy(reader: FeedReader, record: CallRecord): boolean {
    return reader.sees(tenantOf(record, this.#parts.journal), conversationName(record.conversation));
  }
}

interface NewEvent {
  readonly type: FeedEvent['type'];
  readonly data: object;
}

function toCallData(record: CallRecord): object {
  const { batchId, callId, toolName, state, result } = record;
  const more = result === undefined ? {} : { result: shownResult(record, result) };
  return { batchId, callId, toolName, state, ...more };
}
