import type { CallKey, CallRecord, Journal, LiveText } from '../contract/journal.js';
import { MOST_TEXTS } from '../journal/records/live-text.js';
import type { MissedText } from './feed-reader.js';
import { conversationName } from './tenant-desk.js';

/** The number of answers of the journal that one poll reads. */
const MOST_ANSWERS = 20;

/** An event about the output of a call. */
export interface OutputEvent {
  readonly record: CallRecord;
  readonly type: 'output' | 'gap';
  readonly data: object;
  /** For a reader that misses the event. */
  readonly text: MissedText;
}

/** The output of running calls, read from the journal: each piece once, and a gap where pieces are missing. */
export class OutputFeed {
  readonly #journal: Journal;
  /** The position up to which the output of each call was read. */
  readonly #places = new Map<CallKey, number>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** The output of these calls since the last poll. */
  async look(calls: readonly CallRecord[]): Promise<readonly OutputEvent[]> {
    return this.#read(calls, this.#places);
  }

  /** The kept output of these calls from their start to the position of the last poll. */
  async fromStart(calls: readonly CallRecord[]): Promise<readonly OutputEvent[]> {
    const places = new Map<CallKey, number>();
    const events = await this.#read(calls, places);
    for (const [key, place] of places) if ((this.#places.get(key) ?? 0) < place) this.#places.set(key, place);
    return events;
  }

  /** Forgets calls that have ended. */
  forget(isOver: (key: CallKey) => boolean): void {
    for (const key of [...this.#places.keys()]) if (isOver(key)) this.#places.delete(key);
  }

  async #read(calls: readonly CallRecord[], places: Map<CallKey, number>): Promise<readonly OutputEvent[]> {
    const journal = this.#journal;
    if (journal.printed === undefined || calls.length === 0) return [];
    const records = new Map(calls.map((record) => [record.key, record]));
    const events: OutputEvent[] = [];
    for (let answers = 0; answers < MOST_ANSWERS; answers++) {
      const wanted = new Map(calls.map(({ key }) => [key, places.get(key) ?? 0]));
      const texts = await readTexts(journal, wanted, events.length > 0);
      for (const text of texts) {
        const record = records.get(text.key);
        if (record !== undefined) events.push(...toEvents(record, text, places));
      }
      if (texts.length < MOST_TEXTS) break;
    }
    return events;
  }
}

/**
 * @param isPartial the texts of an earlier answer must not be lost, so a failure ends the poll early instead of
 *   rejecting it
 */
async function readTexts(
  journal: Journal,
  wanted: ReadonlyMap<CallKey, number>,
  isPartial: boolean,
): Promise<readonly LiveText[]> {
  try {
    return (await journal.printed?.(wanted)) ?? [];
  } catch (error) {
    if (isPartial) return [];
    throw error;
  }
}

function* toEvents(
  record: CallRecord,
  { key, stream, from, text }: LiveText,
  places: Map<CallKey, number>,
): Generator<OutputEvent> {
  const place = places.get(key) ?? 0;
  // A write is repeated if its answer was lost.
  if (from < place) return;
  const { batchId, callId, toolName } = record;
  const conversation = conversationName(record.conversation);
  const missing = (missed: number): MissedText => ({ batchId, callId, conversation, missed });
  if (from > place) {
    const gap = missing(from - place);
    yield { record, type: 'gap', data: { ...gap, of: 'characters' }, text: gap };
  }
  places.set(key, from + text.length);
  if (text === '') return;
  const data = { batchId, callId, toolName, stream, from, chunk: text, conversation };
  yield { record, type: 'output', data, text: missing(text.length) };
}
