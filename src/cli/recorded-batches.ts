import type { BatchDecision, BatchRecord, CallRecord, JournalNote } from '../contract/journal.js';
import { isStreamRecord } from '../executor/receive/stream-record.js';
import type { JournalArchive } from '../journal/open-archive.js';
import { UsageError } from './cli-context.js';

export interface RecordedCall extends CallRecord {
  /** Its position in the shown batch; a repeated delivery belongs to an earlier one. */
  readonly place: number;
  readonly notes: readonly JournalNote[];
}

/** Not requested by a model: the record of an incoming response. */
export function isInternal({ calls }: { readonly calls: readonly CallRecord[] }): boolean {
  return calls.length > 0 && calls.every(isStreamRecord);
}

export interface RecordedBatch extends BatchRecord {
  readonly calls: readonly RecordedCall[];
  readonly decisions: readonly BatchDecision[];
}

/**
 * Finds records by batch, conversation, call, or prefix of a batch id: the first match.
 * @throws UsageError without a match, or if several batches match the prefix.
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

/** @throws UsageError if several batches match. */
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
