import type { BatchRecord, CallRecord, DecisionKind } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import type { JournalArchive } from '../../journal/open-archive.js';
import { isInternal } from '../recorded-batches.js';

interface OfBatch {
  readonly batch: string;
  readonly conversation: string;
  /** In milliseconds since the epoch. */
  readonly at: number;
}

interface OfCall extends OfBatch {
  readonly callId: string;
  readonly toolName: string;
}

/** An event in a journal. Events are in order. */
export type JournalChange =
  /** A batch was recorded. `earlier`: before the watch began, and still unfinished. */
  | (OfBatch & {
      readonly type: 'batch';
      readonly earlier?: true;
      readonly calls: readonly CallRecord[];
      readonly record: BatchRecord;
    })
  | (OfCall & { readonly type: 'started'; readonly call: CallRecord })
  | (OfCall & { readonly type: 'completed'; readonly call: CallRecord; readonly repeated?: true })
  /** It waits for the person: for approval, or for a decision about unfinished calls. */
  | (OfBatch & { readonly type: 'waiting'; readonly why: string; readonly record: BatchRecord })
  | (OfBatch & {
      readonly type: 'decided';
      readonly decision: DecisionKind;
      readonly why?: string;
      readonly pid?: number;
    });

interface OpenBatch {
  readonly record: BatchRecord;
  /** The number of decisions reported so far. */
  decisions: number;
  /** By position in the batch. */
  readonly states: CallRecord['state'][];
}

/** How many of the newest batches are searched for unfinished ones. */
const LOOKED_BACK = 200;
const PAGE = 100;
/** How many reported batches are remembered: enough to find one again, even if the newest were pruned. */
const REMEMBERED = 1_000;

/** Reports the new events of a journal at each poll. */
export class JournalChanges {
  readonly #open = new Map<string, OpenBatch>();
  readonly #known = new Set<string>();
  readonly #conversation: string | undefined;
  #isFirst: boolean;

  /**
   * @param conversation only this one
   * @param isNew its content was recorded during the watch
   */
  constructor(conversation?: string, isNew = false) {
    this.#conversation = conversation;
    this.#isFirst = !isNew;
  }

  /** The first time: only unfinished batches. */
  read(archive: JournalArchive): readonly JournalChange[] {
    const changes: JournalChange[] = [];
    for (const record of this.#newBatches(archive)) changes.push(...this.#begin(record, archive));
    for (const [id, batch] of this.#open) changes.push(...this.#goOn(id, batch, archive));
    this.#isFirst = false;
    // Events at the same time keep the order in which they were found: a batch before its calls.
    return changes.sort((one, other) => one.at - other.at);
  }

  /** In recording order. */
  #newBatches(archive: JournalArchive): readonly BatchRecord[] {
    const only = this.#conversation === undefined ? {} : { conversation: this.#conversation };
    const found = new Map<string, BatchRecord>();
    let before: string | undefined;
    for (let isDone = false; !isDone; ) {
      const page = archive.batches({ ...only, limit: PAGE, ...(before === undefined ? {} : { before }) });
      for (const record of page) {
        if (this.#known.has(record.id)) isDone = true;
        else if (!isDone) found.set(record.id, record);
      }
      before = page.at(-1)?.id;
      if (page.length < PAGE || (this.#isFirst && found.size >= LOOKED_BACK)) isDone = true;
    }
    // Placed after the others: those not found yet are older.
    if (this.#isFirst)
      for (const record of archive.batches({ ...only, waiting: true })) found.set(record.id, record);
    const records = [...found.values()].reverse();
    for (const { id } of records) this.#known.add(id);
    for (const id of this.#known) {
      if (this.#known.size <= REMEMBERED) break;
      this.#known.delete(id);
    }
    return records;
  }

  #begin(record: BatchRecord, archive: JournalArchive): readonly JournalChange[] {
    const calls = archive.calls(record.id);
    if (isInternal({ calls })) return [];
    if (this.#isFirst && record.decision !== 'wait' && calls.every(isDone)) return [];
    // For earlier batches, only new events are reported.
    const states = this.#isFirst ? calls.map(({ state }) => state) : calls.map(() => 'queued' as const);
    this.#open.set(record.id, { record, decisions: 0, states });
    const earlier = this.#isFirst ? ({ earlier: true } as const) : {};
    return [{ type: 'batch', ...of(record), at: record.at, ...earlier, calls, record }];
  }

  #goOn(id: string, batch: OpenBatch, archive: JournalArchive): readonly JournalChange[] {
    const changes: JournalChange[] = [];
    const calls = archive.calls(id);
    for (const [place, call] of calls.entries()) {
      changes.push(...changesOf(call, batch, place));
      batch.states[place] = call.state;
    }
    const decisions = archive.decisions(id);
    for (const [place, { kind, at, data }] of decisions.entries()) {
      const isLast = place === decisions.length - 1;
      if (place < batch.decisions || (this.#isFirst && !isLast)) continue;
      const why = typeof data.why === 'string' ? { why: data.why } : {};
      if (kind === 'wait')
        changes.push({
          type: 'waiting',
          ...of(batch.record),
          at: after(batch, at),
          why: '',
          ...why,
          record: batch.record,
        });
      else if (!this.#isFirst)
        changes.push({
          type: 'decided',
          ...of(batch.record),
          at: after(batch, at),
          decision: kind,
          ...why,
          ...takerOf(data),
        });
    }
    batch.decisions = decisions.length;
    if (calls.every(isDone) && decisions.at(-1)?.kind !== 'wait') this.#open.delete(id);
    return changes;
  }
}

function changesOf(call: CallRecord, batch: OpenBatch, place: number): readonly JournalChange[] {
  const before = batch.states[place] ?? 'queued';
  if (call.state === before) return [];
  const { callId, toolName, startedAt = 0, finishedAt = 0 } = call;
  const about = { ...of(batch.record), callId, toolName, call };
  if (call.state === 'running') return [{ type: 'started', ...about, at: after(batch, startedAt) }];
  // Delivered before, and answered from the record.
  const repeated = call.batchId === batch.record.id ? {} : ({ repeated: true } as const);
  return [{ type: 'completed', ...about, at: after(batch, finishedAt), ...repeated }];
}

/** The process that approved it and runs it. */
function takerOf({ worker }: JsonObject): { readonly pid?: number } {
  if (typeof worker !== 'object' || worker === null || Array.isArray(worker)) return {};
  const { pid } = worker as JsonObject;
  return typeof pid === 'number' ? { pid } : {};
}

/** No event precedes its batch, although the clock of another machine may say so. */
function after({ record }: OpenBatch, at: number): number {
  return Math.max(record.at, at);
}

function of({ id, conversation }: BatchRecord): Pick<OfBatch, 'batch' | 'conversation'> {
  return { batch: id, conversation };
}

function isDone({ state }: CallRecord): boolean {
  return state === 'done';
}
