import type { CallKey, LiveText } from '../../contract/journal.js';
import { callKey, parseCallKey } from '../records/call-key.js';
import { LIVE_MS, MOST_TEXTS } from '../records/live-text.js';
import { fromStoredText, toStoredText } from '../records/stored-text.js';
import type { Work } from './connections.js';

/** The number of texts that are kept, for all tenants together. */
const MOST_KEPT = 8_192;

/** Unlogged: these writes do not reach the server's log, and a crash of the server empties the table. */
export const LIVE_TEXTS = `
  CREATE UNLOGGED TABLE {s}.live_texts (
    number bigserial PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    batch_id text COLLATE "C" NOT NULL,
    position integer NOT NULL,
    stream text NOT NULL,
    start bigint NOT NULL,
    content text NOT NULL,
    printed_at double precision NOT NULL
  );
  CREATE INDEX live_texts_by_call ON {s}.live_texts (tenant, batch_id, position, start);

  -- The oldest go with each write: those that are too many, and those that are too old.
  CREATE FUNCTION {s}.print_1(
    p_tenant text, p_batches text[], p_positions integer[], p_streams text[], p_starts bigint[], p_contents text[],
    p_at double precision, p_since double precision, p_most integer
  ) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE newest bigint;
  BEGIN
    INSERT INTO {s}.live_texts (tenant, batch_id, position, stream, start, content, printed_at)
    SELECT p_tenant, u.batch_id, u.position, u.stream, u.start, u.content, p_at
    FROM unnest(p_batches, p_positions, p_streams, p_starts, p_contents) AS u (batch_id, position, stream, start, content);
    SELECT max(t.number) INTO newest FROM {s}.live_texts t;
    DELETE FROM {s}.live_texts t
    WHERE t.number IN (SELECT o.number FROM {s}.live_texts o ORDER BY o.number LIMIT 256 FOR UPDATE SKIP LOCKED)
      AND (t.number <= newest - p_most OR t.printed_at < p_since);
  END $$;
`;

const PRINT = `
  SELECT {s}.print_1($1, $2::text[], $3::integer[], $4::text[], $5::bigint[], $6::text[], $7::double precision,
    $8::double precision, $9::integer)`;

export function keepLiveTexts(tenant: string, texts: readonly LiveText[], at: number): Work<void> {
  const rows = texts.flatMap(({ key, ...text }) => {
    const call = parseCallKey(key);
    return call === undefined ? [] : [{ ...text, ...call }];
  });
  return async ({ query }) => {
    await query(PRINT, [
      tenant,
      rows.map(({ batchId }) => toStoredText(batchId)),
      rows.map(({ index }) => index),
      rows.map(({ stream }) => stream),
      rows.map(({ from }) => from),
      rows.map(({ text }) => toStoredText(text)),
      ...[at, at - LIVE_MS, MOST_KEPT],
    ]);
  };
}

const PRINTED = `
  SELECT t.batch_id, t.position, t.stream, t.start, t.content
  FROM unnest($2::text[], $3::integer[], $4::bigint[]) AS w (batch_id, position, start)
  JOIN {s}.live_texts t ON t.tenant = $1 AND t.batch_id = w.batch_id AND t.position = w.position AND t.start >= w.start
  ORDER BY t.batch_id, t.position, t.start LIMIT $5`;

interface TextRow {
  readonly batch_id: string;
  readonly position: number;
  readonly stream: LiveText['stream'];
  readonly start: string;
  readonly content: string;
}

export function readLiveTexts(
  tenant: string,
  places: ReadonlyMap<CallKey, number>,
): Work<readonly LiveText[]> {
  const wanted = [...places].flatMap(([key, place]) => {
    const call = parseCallKey(key);
    return call === undefined ? [] : [{ ...call, place }];
  });
  return async ({ query }) => {
    const { rows } = await query<TextRow>(PRINTED, [
      tenant,
      wanted.map(({ batchId }) => toStoredText(batchId)),
      wanted.map(({ index }) => index),
      wanted.map(({ place }) => place),
      MOST_TEXTS,
    ]);
    return rows.map(({ batch_id, position, stream, start, content }) => ({
      ...{ key: callKey(fromStoredText(batch_id), position), stream, from: Number(start) },
      text: fromStoredText(content),
    }));
  };
}
