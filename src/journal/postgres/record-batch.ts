import { randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Acceptance, BatchEntry, CallRecord } from '../../contract/journal.js';
import { callKey, hasIdentity } from '../records/call-key.js';
import { sha256 } from '../records/stored-content.js';
import { storeEffects } from '../records/stored-effects.js';
import { fromStoredText, toStoredText, toStoredTurn } from '../records/stored-text.js';
import type { Work } from './connections.js';
import { readByPlaces } from './read-calls.js';

const ACCEPT = `
  SELECT * FROM {s}.accept_2(
    $1::text, $2::text, $3::text, $4::boolean, $5::double precision, $6::text, $7::text, $8::text, $9::text, $10::text,
    $11::text, $12::text[], $13::text, $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[],
    $20::text[], $21::text[], $22::integer)`;

interface AcceptedRow {
  readonly kind: Acceptance['kind'];
  readonly first_batch: string;
  readonly first_position: number;
  readonly why: string | null;
  readonly behind: boolean;
  readonly open: number;
}

/** Records a whole batch, with an answer for each call. The values are stored as they are now. */
export function acceptBatch(tenant: string, entry: BatchEntry): Work<readonly Acceptance[]> {
  const values = toValues(entry);
  const quota = entry.openQuota ?? 0;
  return async (connection) => {
    const { rows } = await connection.query<AcceptedRow>(ACCEPT, [tenant, ...values]);
    const earlier = rows.filter(({ kind }) => kind === 'known' || kind === 'conflict');
    const records = await readByPlaces(
      connection,
      tenant,
      earlier.map((row) => ({ batch: row.first_batch, position: row.first_position })),
    );
    return rows.map((row, index) => toAcceptance(row, callKey(entry.id, index), records, quota));
  };
}

function toValues(entry: BatchEntry): readonly unknown[] {
  const { calls, worker, message, origin, placement, attach, openQuota } = entry;
  const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));
  return [
    ...[toStoredText(entry.id), toStoredText(entry.conversation), attach, entry.at],
    // Recognizes this delivery if its answer is lost and it is sent again.
    randomUUID(),
    ...[
      json(worker),
      worker === undefined ? null : toStoredText(worker.id),
      json(message),
      json(origin),
      json(placement),
      placement === undefined ? null : (placement.labels ?? []).map(toStoredText),
      placement?.root === undefined ? null : toStoredText(placement.root),
      calls.map(({ callId }) => toStoredText(callId)),
      calls.map(({ madeUp, turn }) => (madeUp === true ? toStoredTurn(turn) : null)),
      calls.map(({ toolName }) => toStoredText(toolName)),
      calls.map(({ args }) => JSON.stringify(args)),
      calls.map((call) => (attach && hasIdentity(call) ? sha256(canonicalize(call.args) ?? '') : null)),
      calls.map(storeEffects),
      calls.map(({ disposition }) => disposition),
      calls.map(({ reason }) => toStoredText(reason)),
      openQuota ?? null,
    ],
  ];
}

function toAcceptance(
  { kind, first_batch, first_position, why, behind, open }: AcceptedRow,
  key: string,
  records: ReadonlyMap<string, CallRecord>,
  quota: number,
): Acceptance {
  const first = fromStoredText(first_batch);
  if (kind === 'fresh') return behind ? { kind, key, behind } : { kind, key };
  if (kind === 'over_quota') return { kind, key, open, quota };
  if (kind === 'waits') return { kind, key, batchId: first, ...(why === null ? {} : { why }) };
  const record = records.get(callKey(first, first_position));
  if (record === undefined) throw new Error(`the call ${callKey(first, first_position)} is gone`);
  return kind === 'known' ? { kind, key: record.key, record } : { kind, key, record };
}
