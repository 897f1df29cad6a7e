import type { CallKey, CallRecord, Journal, LiveText } from '../contract/journal.js';
import { MOST_TEXTS } from '../journal/records/live-text.js';
import type { MissedText } from './feed-reader.js';
import { conversationName } from './tenant-desk.js';

/** The number of answers of the journal that are read for one look. */
const MOST_ANSWERS = 20;

/** An event about what a call prints. */
export interface OutputEvent {
  readonly record: CallRecord;
  readonly type: 'output' | 'gap';
  readonly data: object;
  /** What a reader misses without it. */
  readonly text: MissedText;
}

/** What running calls print, read from the journal: each piece once, and a gap where pieces are gone. */
export class OutputFeed {
  readonly #journal: Journal;
  /** How far the output of each call was read. */
  readonly #places = new Map<CallKey, number>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** What these calls have printed since the last look. */
  async look(calls: readonly CallRecord[]): Promise<readonly OutputEvent[]> {
    return this.#read(calls, this.#places);
  }

  /** What is kept of these calls from their start, up to where the last look has read. */
  async fromStart(calls: readonly CallRecord[]): Promise<readonly OutputEvent[]> {
    const places = new Map<CallKey, number>();
    const events = await this.#read(calls, places);
    for (const [key, place] of places) if ((this.#places.get(key) ?? 0) < place) this.#places.set(key, place);
    return events;
  }

  /** The calls that do not print any more. */
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

/** @param isPartial there are texts of an earlier answer, which must not be lost: a failure ends the look instead */
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
  // A write whose answer was lost is sent again.
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
