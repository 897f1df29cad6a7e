import type { BatchDecision, BatchRecord, CallRecord, JournalNote } from '../contract/journal.js';
import { isStreamRecord } from '../executor/receive/stream-record.js';
import type { JournalArchive } from '../journal/open-archive.js';
import { UsageError } from './cli-context.js';

export interface RecordedCall extends CallRecord {
  /** Its place in the batch it is shown with; a repeated delivery is a call of an earlier one. */
  readonly place: number;
  readonly notes: readonly JournalNote[];
}

/** Nothing that a model asked for: a record of a response that was arriving. */
export function isInternal({ calls }: { readonly calls: readonly CallRecord[] }): boolean {
  return calls.length > 0 && calls.every(isStreamRecord);
}

export interface RecordedBatch extends BatchRecord {
  readonly calls: readonly RecordedCall[];
  readonly decisions: readonly BatchDecision[];
}

/**
 * By batch, by conversation, by call, by the beginning of a batch's id: the first that there is.
 * @throws UsageError where there is none, or several batches begin so.
 */
export function findRecorded(archive: JournalArchive, id: string): readonly RecordedBatch[] {
  const found = find(archive, id);
  if (found.length > 0) return found;
  throw new UsageError(
    `The journal holds no batch, call or conversation ${JSON.stringify(id)}. See toolexec journal list.`,
  );
}

function find(archive: JournalArchive, id: string): readonly RecordedBatch[] {
  const batch = archive.batch(id);
  if (batch !== undefined) return [readWhole(archive, batch)];
  const ofConversation = archive.batches({ conversation: id }).toReversed();
  if (ofConversation.length > 0)
    return ofConversation.map((each) => readWhole(archive, each)).filter((each) => !isInternal(each));
  const ofCall = archive.batchesOfCall(id);
  if (ofCall.length === 0) return beginningWith(archive, id).map((each) => readWhole(archive, each));
  return ofCall
    .flatMap((name) => archive.batch(name) ?? [])
    .map((each) => readWhole(archive, each))
    .map((each) => ({ ...each, calls: each.calls.filter(({ callId }) => callId === id) }));
}

/** @throws UsageError where several batches begin so. */
function beginningWith(archive: JournalArchive, prefix: string): readonly BatchRecord[] {
  if (prefix.length < 8) return [];
  const found = archive.batches({ prefix, limit: 6 });
  if (found.length < 2) return found;
  const ids = found.slice(0, 5).map(({ id }) => id);
  const more = found.length > ids.length ? ', and more' : '';
  throw new UsageError(
    `Cannot show "${prefix}": several batches begin with it: ${ids.join(', ')}${more}. Give more of the id.`,
  );
}

export function readWhole(archive: JournalArchive, batch: BatchRecord): RecordedBatch {
  return {
    ...batch,
    decisions: archive.decisions(batch.id),
    calls: archive.calls(batch.id).map((call, place) => ({ ...call, place, notes: archive.notes(call) })),
  };
}
