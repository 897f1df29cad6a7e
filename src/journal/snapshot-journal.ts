import type {
  BatchDecision,
  BatchFilter,
  BatchRecord,
  CallRecord,
  ConversationFact,
  Journal,
  JournalNote,
} from '../contract/journal.js';
import type { JournalArchive } from './open-archive.js';

/** The part of a journal that a snapshot has. */
export interface SnapshotScope {
  /** Only this conversation, with its history and facts. */
  readonly conversation?: string;
  /** Only the batch (by its id or the beginning of its id), the conversation, or the newest call with this id. */
  readonly id?: string;
  /** The maximum number of batches, newest first; those that wait for a person are added. Default 1,000. */
  readonly limit?: number;
}

const MOST_BATCHES = 1_000;
const AT_A_TIME = 8;
const HASH = /\b[0-9a-f]{64}\b/g;

interface WholeBatch {
  readonly batch: BatchRecord;
  readonly calls: readonly CallRecord[];
  readonly decisions: readonly BatchDecision[];
  readonly notes: ReadonlyMap<string, readonly JournalNote[]>;
}

/**
 * Copies a part of a journal that another machine keeps, so that it can be read like a file: every query is answered
 * from the copy.
 * @throws ToolError `journal_unavailable`
 */
export async function snapshotOf(journal: Journal, scope: SnapshotScope): Promise<JournalArchive> {
  const records = await recordsIn(journal, scope);
  const whole = new Map<string, WholeBatch>();
  for (let start = 0; start < records.length; start += AT_A_TIME) {
    const some = records.slice(start, start + AT_A_TIME);
    for (const one of await Promise.all(some.map((batch) => readBatch(journal, batch))))
      whole.set(one.batch.id, one);
  }
  const kept = await readKept(journal, [...whole.values()]);
  const { conversation } = scope;
  const history = conversation === undefined ? [] : await journal.history(conversation);
  const facts: readonly ConversationFact[] =
    conversation === undefined ? [] : ((await journal.recall?.(conversation))?.facts ?? []);
  return {
    conversations: () => [...new Set(records.map((batch) => batch.conversation))].reverse(),
    history: (name) => (name === conversation ? history : []),
    facts: (name) => (name === conversation ? facts : []),
    batches: (filter = {}) => filtered(records, filter),
    batch: (id) => whole.get(id)?.batch,
    calls: (id) => whole.get(id)?.calls ?? [],
    decisions: (id) => whole.get(id)?.decisions ?? [],
    notes: ({ key }) => [...whole.values()].find(({ notes }) => notes.has(key))?.notes.get(key) ?? [],
    kept: (hash) => kept.get(hash),
    batchesOfCall: (callId) =>
      records
        .filter(({ id }) => whole.get(id)?.calls.some((call) => call.callId === callId))
        .map(({ id }) => id),
    close() {},
  };
}

function filtered(
  records: readonly BatchRecord[],
  { conversation, waiting, prefix = '', before, limit }: BatchFilter,
): readonly BatchRecord[] {
  const start = before === undefined ? 0 : records.findIndex(({ id }) => id === before) + 1;
  return records
    .slice(start)
    .filter((batch) => conversation === undefined || batch.conversation === conversation)
    .filter((batch) => waiting !== true || batch.decision === 'wait')
    .filter(({ id }) => id.startsWith(prefix))
    .slice(0, limit);
}

/** Newest first. */
async function recordsIn(
  journal: Journal,
  { conversation, id, limit = MOST_BATCHES }: SnapshotScope,
): Promise<readonly BatchRecord[]> {
  if (id !== undefined) {
    const found = [
      ...(await journal.batches({ prefix: id, limit })).filter((batch) => batch.id.startsWith(id)),
      ...(await journal.batches({ conversation: id, limit })),
    ];
    if (found.length > 0) return found;
    const call = await journal.find(undefined, id);
    if (call === undefined) return [];
    const { batchId } = call;
    return (await journal.batches({ prefix: batchId, limit: 1 })).filter((batch) => batch.id === batchId);
  }
  const only = conversation === undefined ? {} : { conversation };
  const newest = await journal.batches({ ...only, limit });
  const waiting = await journal.batches({ ...only, waiting: true });
  return [...newest, ...waiting.filter((batch) => !newest.some(({ id: known }) => known === batch.id))];
}

async function readBatch(journal: Journal, batch: BatchRecord): Promise<WholeBatch> {
  const [calls, decisions] = await Promise.all([journal.batch(batch.id), journal.decisions(batch.id)]);
  const notes = await Promise.all(calls.map(async ({ key }) => [key, await journal.notes(key)] as const));
  return { batch, calls, decisions, notes: new Map(notes) };
}

/** The contents that notes refer to: old contents of files. */
async function readKept(
  journal: Journal,
  batches: readonly WholeBatch[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const notes = batches.flatMap((batch) => [...batch.notes.values()].flat());
  const hashes = new Set(
    notes
      .filter(({ kind }) => kind !== 'approval')
      .flatMap(({ data }) => JSON.stringify(data).match(HASH) ?? []),
  );
  const found = new Map<string, Uint8Array>();
  for (const hash of hashes) {
    const bytes = await journal.kept(hash);
    if (bytes !== undefined) found.set(hash, bytes);
  }
  return found;
}
