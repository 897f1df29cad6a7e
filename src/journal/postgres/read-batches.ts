import type {
  BatchDecision,
  BatchFilter,
  BatchRecord,
  ConversationEntry,
  RecalledFacts,
} from '../../contract/journal.js';
import type { JsonValue } from '../../contract/json.js';
import { fromStoredText, toStoredText } from '../records/stored-text.js';
import type { Connection } from './connections.js';

interface BatchRow {
  readonly id: string;
  readonly number: string;
  readonly conversation: string;
  readonly attach: boolean;
  readonly size: number;
  readonly accepted_at: number;
  readonly worker: string | null;
  readonly message: string | null;
  readonly origin: string | null;
  readonly placement: string | null;
  readonly decision: NonNullable<BatchRecord['decision']> | null;
}

const BATCHES = `
  SELECT b.id, b.number, b.conversation, b.attach, b.size, b.accepted_at, b.worker, b.message, b.origin, b.placement,
    b.decision
  FROM {s}.batches b WHERE b.tenant = $1`;

export async function readBatches(
  connection: Connection,
  tenant: string,
  { conversation, waiting, prefix, before, limit }: BatchFilter = {},
): Promise<readonly BatchRecord[]> {
  const values: unknown[] = [tenant];
  const place = (value: unknown): string => `$${values.push(value)}`;
  let sql = BATCHES;
  if (conversation !== undefined) sql += ` AND b.conversation = ${place(toStoredText(conversation))}`;
  if (waiting === true) sql += " AND b.decision = 'wait'";
  if (prefix !== undefined) {
    // A range, so that the index over ids finds them.
    const first = toStoredText(prefix);
    sql += ` AND b.id >= ${place(first)} AND b.id < ${place(`${first}\u{10FFFF}`)}`;
  }
  if (before !== undefined) {
    sql += ` AND b.number < (SELECT number FROM {s}.batches WHERE tenant = $1 AND id = ${place(toStoredText(before))})`;
  }
  const { rows } = await connection.query<BatchRow>(
    `${sql} ORDER BY b.number DESC LIMIT ${place(limit ?? null)}::bigint`,
    values,
  );
  return rows.map(toBatch);
}

function toBatch(row: BatchRow): BatchRecord {
  return {
    id: fromStoredText(row.id),
    conversation: fromStoredText(row.conversation),
    attach: row.attach,
    at: row.accepted_at,
    size: row.size,
    ...(row.worker === null ? {} : { worker: parse(row.worker) }),
    ...(row.message === null ? {} : { message: parse(row.message) }),
    ...(row.origin === null ? {} : { origin: parse(row.origin) }),
    ...(row.placement === null ? {} : { placement: parse(row.placement) }),
    ...(row.decision === null ? {} : { decision: row.decision }),
  };
}

const DECISIONS =
  'SELECT kind, data, decided_at FROM {s}.decisions WHERE tenant = $1 AND batch_id = $2 ORDER BY number';

/** @param batch in stored form */
export async function readDecisions(
  connection: Connection,
  tenant: string,
  batch: string,
): Promise<readonly BatchDecision[]> {
  const { rows } = await connection.query<{
    readonly kind: BatchDecision['kind'];
    readonly data: string;
    readonly decided_at: number;
  }>(DECISIONS, [tenant, batch]);
  return rows.map(({ kind, data, decided_at }) => ({ kind, at: decided_at, data: parse(data) }));
}

const MESSAGES =
  'SELECT number, role, content, sent_at FROM {s}.messages WHERE tenant = $1 AND conversation = $2 ORDER BY number';

export async function readHistory(
  connection: Connection,
  tenant: string,
  conversation: string,
): Promise<readonly ConversationEntry[]> {
  const name = toStoredText(conversation);
  const messages = await connection.query<{
    readonly number: string;
    readonly role: string;
    readonly content: string;
    readonly sent_at: number;
  }>(MESSAGES, [tenant, name]);
  const batches = await connection.query<BatchRow>(`${BATCHES} AND b.conversation = $2`, [tenant, name]);
  const entries = [
    ...messages.rows.map(({ number, role, content, sent_at }) => ({
      number: BigInt(number),
      entry: {
        kind: 'message',
        role: fromStoredText(role),
        content: parse<JsonValue>(content),
        at: sent_at,
      } as const,
    })),
    ...batches.rows.map((row) => ({
      number: BigInt(row.number),
      entry: { kind: 'batch', ...toBatch(row) } as const,
    })),
  ];
  return entries.sort((one, other) => (one.number < other.number ? -1 : 1)).map(({ entry }) => entry);
}

const FACTS = `
  SELECT key, value, remembered_at, number::double precision AS number FROM {s}.facts
  WHERE tenant = $1 AND conversation = $2 ORDER BY number`;

/** The mark is the number of the newest fact of the conversation. */
export async function readFacts(
  connection: Connection,
  tenant: string,
  conversation: string,
  since = 0,
): Promise<RecalledFacts> {
  const { rows } = await connection.query<{
    readonly key: string;
    readonly value: string;
    readonly remembered_at: number;
    readonly number: number;
  }>(FACTS, [tenant, toStoredText(conversation)]);
  const mark = rows.at(-1)?.number ?? 0;
  // A mark is invalid if the database was replaced by an older copy.
  const newer = since > mark ? rows : rows.filter(({ number }) => number > since);
  return {
    facts: newer.map(({ key, value, remembered_at }) => ({
      key: fromStoredText(key),
      value: parse(value),
      at: remembered_at,
    })),
    mark,
  };
}

/** The only place where stored JSON of batches gets its type back. */
function parse<T>(text: string): T {
  return JSON.parse(text);
}
