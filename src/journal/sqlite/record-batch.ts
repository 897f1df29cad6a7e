import canonicalize from 'canonicalize';
import type { Acceptance, BatchEntry, CallEntry, CallKey, Refusal } from '../../contract/journal.js';
import { callKey, hasIdentity } from '../records/call-key.js';
import { tenantOf } from '../records/fair-order.js';
import { batchIsKnown } from '../records/journal-errors.js';
import { sha256 } from '../records/stored-content.js';
import { storeEffects } from '../records/stored-effects.js';
import { toStoredText, toStoredTurn } from '../records/stored-text.js';
import { type LongText, storeLongText, toLongText } from './blobs.js';
import type { Operation } from './group-commit.js';
import type { JournalDatabase } from './journal-database.js';
import { JournalRow } from './journal-row.js';
import { readOpen } from './placed-calls.js';
import { findNameHolder, isSameCall, readCall } from './read-calls.js';
import { addBatchNote, findWorker } from './record-progress.js';
import { hasOthers } from './waiting-calls.js';

/** Records a whole batch, with an answer for each call. */
export function recordBatch(entry: BatchEntry): Operation<readonly Acceptance[]> {
  // Serialized at once, so later changes by the caller do not count.
  const rows = entry.calls.map((call) => toRow(call, entry.attach));
  const facts = toFacts(entry);
  return {
    writes: true,
    isLazy: entry.onlyReads === true,
    run(database) {
      const blocker = entry.attach ? findWaiting(database, toStoredText(entry.conversation)) : undefined;
      if (blocker !== undefined) return answerKnown(database, entry, rows, blocker);
      const refusal = findRefusal(database, entry, rows);
      if (refusal !== undefined) return answerKnown(database, entry, rows, refusal);
      const number = addBatch(database, entry);
      for (const { kind, text } of facts) {
        storeLongText(database, text);
        addBatchNote(database, number, kind, text, entry.at);
      }
      const delivery = {
        id: entry.id,
        batch: number,
        conversation: toStoredText(entry.conversation),
        inBatch: rows.length > 1 ? new Map<string, number>() : undefined,
      };
      const placed = rows.map((row, index) => placeCall(database, delivery, row, index));
      const isBehind =
        entry.attach && rows.length > 0 && hasOthers(database, delivery.conversation, entry.worker);
      if (entry.placement !== undefined) database.forgetOthers();
      return placed.map((place) => toAcceptance(database, place, isBehind));
    },
  };
}

// A batch that waits for approval blocks no other call. A long reason, stored as a blob, never means
// approval. CROSS JOIN starts with the few batches that wait: a conversation may have very many.
const WAITING = `
  SELECT id, why FROM (
    SELECT b.id, d.batch, (
      SELECT json_extract(n.data, '$.why') FROM batch_notes n WHERE n.batch = d.batch AND n.kind = 'wait'
      ORDER BY n.number DESC LIMIT 1) AS why
    FROM decided d CROSS JOIN batches b ON b.number = d.batch
    WHERE d.kind = 'wait' AND b.conversation = ?)
  WHERE why IS NOT 'approval' ORDER BY batch LIMIT 1`;

/** The batch that the conversation waits for, with the reason. */
function findWaiting(database: JournalDatabase, conversation: string): Refusal | undefined {
  const row = database.prepared(WAITING).get(conversation);
  if (row === undefined) return undefined;
  const batchId = new JournalRow(row).text('id');
  return { kind: 'waits', batchId, ...(typeof row.why === 'string' ? { why: row.why } : {}) };
}

/** Undefined: the quota of open calls allows the batch. */
function findRefusal(
  database: JournalDatabase,
  { openQuota: quota, placement, conversation }: BatchEntry,
  rows: readonly CallRow[],
): Refusal | undefined {
  if (quota === undefined) return undefined;
  const added = rows.filter(
    (row) =>
      row.disposition !== 'pre_resolved' &&
      findEarlier(database, toStoredText(conversation), row)?.isSame !== true,
  ).length;
  const open = readOpen(database, tenantOf(placement));
  return added > 0 && open + added > quota ? { kind: 'over_quota', open, quota } : undefined;
}

/** Accepts nothing: only a call that was delivered before gets its answer. */
function answerKnown(
  database: JournalDatabase,
  { id, conversation }: BatchEntry,
  rows: readonly CallRow[],
  refusal: Refusal,
): readonly Acceptance[] {
  const seen = new Set<string>();
  return rows.map((row, index) => {
    const isFirst = !seen.has(row.callId);
    seen.add(row.callId);
    const earlier = isFirst ? findEarlier(database, toStoredText(conversation), row) : undefined;
    if (earlier?.isSame !== true) return { ...refusal, key: callKey(id, index) };
    const record = readCall(database, earlier.number);
    return { kind: 'known', key: record.key, record };
  });
}

interface BatchFact {
  readonly kind: 'message' | 'origin' | 'placement';
  readonly text: LongText;
}

function toFacts({ message, origin, placement }: BatchEntry): BatchFact[] {
  const facts: BatchFact[] = [];
  if (message !== undefined) facts.push({ kind: 'message', text: toLongText(JSON.stringify(message)) });
  if (origin !== undefined) facts.push({ kind: 'origin', text: toLongText(JSON.stringify(origin)) });
  if (placement !== undefined) {
    facts.push({ kind: 'placement', text: toLongText(JSON.stringify(placement)) });
  }
  return facts;
}

interface CallRow {
  readonly callId: string;
  readonly toolName: string;
  readonly args: string;
  readonly argsHash: string | null;
  readonly effects: string;
  readonly disposition: string;
  readonly reason: string;
  /** Null: the id comes from the provider. */
  readonly turn: string | null;
}

function toRow(call: CallEntry, attach: boolean): CallRow {
  return {
    callId: toStoredText(call.callId),
    toolName: toStoredText(call.toolName),
    args: JSON.stringify(call.args),
    argsHash: attach && hasIdentity(call) ? sha256(canonicalize(call.args) ?? '') : null,
    effects: storeEffects(call),
    disposition: call.disposition,
    reason: toStoredText(call.reason),
    turn: call.madeUp === true ? toStoredTurn(call.turn) : null,
  };
}

/** Returns the batch's number; its calls have the following numbers. */
function addBatch(database: JournalDatabase, entry: BatchEntry): number {
  const number = database.nextNumber();
  const worker = entry.worker === undefined ? null : findWorker(database, entry.worker);
  const values = [
    number,
    toStoredText(entry.id),
    toStoredText(entry.conversation),
    entry.attach ? 1 : 0,
    entry.calls.length,
    entry.at,
  ];
  const row = [...values, worker];
  if (!database.add('batches', number, row, worker === null ? values : row)) throw batchIsKnown(entry.id);
  database.takeNumbers(entry.calls.length);
  return number;
}

interface Delivery {
  readonly id: string;
  readonly batch: number;
  readonly conversation: string;
  /** The first delivery of each call id of this batch so far, if there are several. */
  readonly inBatch: Map<string, number> | undefined;
}

interface Place {
  readonly kind: Acceptance['kind'];
  readonly key: CallKey;
  /** The first delivery. */
  readonly first: number;
}

const ADD_REPEAT = 'INSERT INTO repeats (number, call) VALUES (?, ?)';

function placeCall(database: JournalDatabase, delivery: Delivery, row: CallRow, index: number): Place {
  const key = callKey(delivery.id, index);
  const number = delivery.batch + 1 + index;
  const twin = delivery.inBatch?.get(row.callId);
  const earlier = twin === undefined ? findEarlier(database, delivery.conversation, row) : undefined;
  const first = twin ?? earlier?.number ?? number;
  delivery.inBatch?.set(row.callId, first);
  if (earlier?.isSame === true) {
    database.prepared(ADD_REPEAT).run(number, first);
    database.chain('repeats', number, [number, first]);
    // A delivery that attached is not a separate call.
    return { kind: 'known', key, first };
  }
  const { callId, toolName, args, argsHash, effects, reason, turn } = row;
  // Its id names another call: it gets an answer, and no worker may take it.
  const disposition = first === number ? row.disposition : 'pre_resolved';
  const { batch, conversation } = delivery;
  const values = [
    number,
    batch,
    conversation,
    callId,
    toolName,
    args,
    argsHash,
    effects,
    disposition,
    reason,
  ];
  const whole = [...values, turn];
  database.add('calls', number, whole, turn === null ? values : whole);
  database.willHold(key, number);
  return { kind: first === number ? 'fresh' : 'conflict', key, first };
}

function findEarlier(
  database: JournalDatabase,
  conversation: string,
  row: CallRow,
): { readonly number: number; readonly isSame: boolean } | undefined {
  if (row.argsHash === null) return undefined;
  const holder = findNameHolder(database, conversation, row.callId, row.turn, 'attachable');
  if (holder === undefined) return undefined;
  const isSame = isSameCall(holder, row);
  // It is not decided yet: the delivery is a new call and takes over the identity.
  return isSame && holder.isOpen ? undefined : { number: holder.number, isSame };
}

function toAcceptance(database: JournalDatabase, { kind, key, first }: Place, isBehind: boolean): Acceptance {
  if (kind === 'fresh') return isBehind ? { kind, key, behind: true } : { kind, key };
  const record = readCall(database, first);
  return kind === 'known' ? { kind: 'known', key: record.key, record } : { kind: 'conflict', key, record };
}
