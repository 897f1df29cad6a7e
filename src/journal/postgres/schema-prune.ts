const COLUMNS = {
  batches: ['message', 'origin', 'placement'],
  calls: ['args', 'effects', 'result'],
  notes: ['data'],
  decisions: ['data'],
  messages: ['content'],
  facts: ['value'],
  blobs: ['content'],
} as const;

export type SizedTable = keyof typeof COLUMNS;
export const SIZED_TABLES = Object.keys(COLUMNS) as readonly SizedTable[];

/** The size of a row besides its long columns, including its index entries, in bytes. */
const FIXED = 200;

/**
 * SQL for the size of a row: the stored (compressed) size of its long columns, and an estimate for the others. Long
 * values are not read for this.
 */
export function sizeOf(table: SizedTable, alias: string): string {
  const sizes = COLUMNS[table].map((column) => `coalesce(pg_column_size(${alias}.${column}), 0)`);
  return `(${FIXED}::bigint + ${sizes.join(' + ')})`;
}

/** The hashes of contents that the record of a result, or a note, refers to. */
export const HASHES_OF_RESULT = `regexp_matches(c.result, '"data":\\{"sha256":"([0-9a-f]{64})"', 'g')`;
export const NAMES_CONTENT = `strpos(c.result, '"data":{"sha256":"') > 0`;
export const HASHES_OF_NOTE = String.raw`regexp_matches(n.data, '\m([0-9a-f]{64})\M', 'g')`;

/** The same for a note, before its hashes are extracted. */
export const NOTE_NAMES_CONTENT = "n.data ~ '[0-9a-f]{64}'";

/** Lets a prune find the records that refer to contents without reading the others. */
export const REFERENCES = `
  CREATE INDEX calls_with_contents ON {s}.calls (tenant, batch_id, position) WHERE ${withoutAlias(NAMES_CONTENT)};
  CREATE INDEX notes_with_contents ON {s}.notes (tenant, number) WHERE ${withoutAlias(NOTE_NAMES_CONTENT)};
`;

function withoutAlias(condition: string): string {
  return condition.replace(/\b[cn]\./, '');
}

/**
 * Pruning, made safe while workers run.
 *
 * `keep_1` is replaced and keeps its meaning, so that contents kept by processes of the previous version are safe too:
 * keeping a content again records the time, and the transaction holds a lock until it ends. See `sweep-contents.ts`.
 *
 * `prune_1` removes a batch together with the batches that attached to it, or none of them. It waits for no worker:
 * batches of a conversation that another transaction has locked are returned as busy.
 */
export const PRUNE = `
  ALTER TABLE {s}.blobs ADD COLUMN kept_at timestamptz NOT NULL DEFAULT now(), ADD COLUMN kept_again_at timestamptz;
  CREATE INDEX repeats_by_first ON {s}.repeats (tenant, first_batch);

  CREATE OR REPLACE FUNCTION {s}.keep_1(p_tenant text, p_hashes text[], p_contents bytea[]) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock_shared(hashtextextended('{s} contents ' || p_tenant, 0));
    INSERT INTO {s}.blobs (tenant, hash, content, kept_at) SELECT p_tenant, u.hash, u.content, clock_timestamp()
    FROM unnest(p_hashes, p_contents) AS u (hash, content) ORDER BY u.hash
    ON CONFLICT (tenant, hash) DO UPDATE SET kept_again_at = clock_timestamp();
  $$;

  CREATE FUNCTION {s}.prune_1(p_tenant text, p_ids text[], p_before double precision, p_dry boolean)
  RETURNS TABLE (id text, conversation text, calls bigint, bytes bigint, hashes text[], is_busy boolean)
  LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    free text[] := p_ids;
    busy text[];
    newest bigint;
    gone text[];
  BEGIN
    IF NOT p_dry THEN
      PERFORM set_config('lock_timeout', '2s', true);
      PERFORM {s}.lock_tenant_1(p_tenant, '', 'prune');
      WITH names AS MATERIALIZED (
        SELECT b.conversation, bool_or(b.attach) AS attach FROM {s}.batches b
        WHERE b.tenant = p_tenant AND b.id = ANY(p_ids) GROUP BY b.conversation
      ), locked AS MATERIALIZED (
        SELECT n.conversation, NOT n.attach
          OR pg_try_advisory_xact_lock(hashtextextended('{s} ' || p_tenant || ' ' || n.conversation, 0)) AS is_free FROM names n
      )
      SELECT array_agg(b.id) FILTER (WHERE l.is_free), array_agg(b.id) FILTER (WHERE NOT l.is_free) INTO free, busy
      FROM {s}.batches b JOIN locked l ON l.conversation = b.conversation
      WHERE b.tenant = p_tenant AND b.id = ANY(p_ids);
    END IF;
    SELECT max(b.number) INTO newest FROM {s}.batches b WHERE b.tenant = p_tenant;
    WITH RECURSIVE attached AS (
      SELECT f.id COLLATE "C" AS head, f.id COLLATE "C" AS id FROM unnest(free) AS f (id)
      UNION
      SELECT a.head, p.batch_id FROM attached a JOIN {s}.repeats p ON p.tenant = p_tenant AND p.first_batch = a.id
    ), fit AS (
      SELECT a.head, a.id, b.number IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM {s}.calls c WHERE c.tenant = p_tenant AND c.batch_id = a.id
          AND (c.finished_at IS NULL OR c.finished_at >= p_before)) AS is_settled
      FROM attached a LEFT JOIN {s}.batches b ON b.tenant = p_tenant AND b.id = a.id
        AND b.accepted_at < p_before AND b.decision IS DISTINCT FROM 'wait' AND b.number < newest
    )
    SELECT coalesce(array_agg(DISTINCT f.id), '{}') INTO gone FROM fit f
    WHERE f.head IN (SELECT e.head FROM fit e GROUP BY e.head HAVING bool_and(e.is_settled));
    IF NOT p_dry THEN
      -- A late result is written under the lock of its call.
      PERFORM 1 FROM {s}.calls c WHERE c.tenant = p_tenant AND c.batch_id = ANY(gone) FOR UPDATE;
    END IF;
    RETURN QUERY
      SELECT b.id, b.conversation, of_calls.count, (${sizeOf('batches', 'b')} + of_calls.bytes
          + (SELECT coalesce(sum(${sizeOf('notes', 'n')}), 0) FROM {s}.notes n WHERE n.tenant = p_tenant AND n.batch_id = b.id)
          + (SELECT coalesce(sum(${sizeOf('decisions', 'd')}), 0) FROM {s}.decisions d
            WHERE d.tenant = p_tenant AND d.batch_id = b.id))::bigint,
        ARRAY(
          SELECT m.found[1] FROM {s}.calls c, ${HASHES_OF_RESULT} AS m (found)
          WHERE c.tenant = p_tenant AND c.batch_id = b.id AND ${NAMES_CONTENT}
          UNION
          SELECT m.found[1] FROM {s}.notes n, ${HASHES_OF_NOTE} AS m (found)
          WHERE n.tenant = p_tenant AND n.batch_id = b.id AND length(n.data) >= 64), false
      FROM {s}.batches b CROSS JOIN LATERAL (
        SELECT count(*) AS count, coalesce(sum(${sizeOf('calls', 'c')}), 0) AS bytes
        FROM {s}.calls c WHERE c.tenant = p_tenant AND c.batch_id = b.id) AS of_calls
      WHERE b.tenant = p_tenant AND b.id = ANY(gone);
    RETURN QUERY SELECT u.id, NULL::text, 0::bigint, 0::bigint, '{}'::text[], true FROM unnest(busy) AS u (id);
    IF p_dry THEN RETURN; END IF;
    DELETE FROM {s}.calls c WHERE c.tenant = p_tenant AND c.batch_id = ANY(gone);
    DELETE FROM {s}.notes n WHERE n.tenant = p_tenant AND n.batch_id = ANY(gone);
    DELETE FROM {s}.decisions d WHERE d.tenant = p_tenant AND d.batch_id = ANY(gone);
    DELETE FROM {s}.repeats p WHERE p.tenant = p_tenant AND p.batch_id = ANY(gone);
    DELETE FROM {s}.live_texts t WHERE t.tenant = p_tenant AND t.batch_id = ANY(gone);
    DELETE FROM {s}.batches b WHERE b.tenant = p_tenant AND b.id = ANY(gone);
  END $$;
`;

/**
 * Contents in an object store. The row of a content names its object and is committed before the object is written. A
 * crash in between leaves an unreferenced row, and a prune removes it with the object. A key is never used again, so a
 * prune cannot remove the object of a content that was kept later. `dead_objects` holds the keys of objects that are
 * still to be removed.
 */
export const OBJECTS = `
  ALTER TABLE {s}.blobs ADD COLUMN object_key text, ADD COLUMN object_bytes bigint;
  CREATE TABLE {s}.dead_objects (
    tenant text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, key)
  );
`;
