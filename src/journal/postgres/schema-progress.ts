/** Claims and results, by compare-and-set. A result that equals the recorded one is the same request, repeated. */
export const PROGRESS = `
  CREATE FUNCTION {s}.claim_1(
    p_tenant text, p_batch text, p_position integer, p_worker text, p_worker_id text, p_epoch integer, p_token text,
    p_at double precision
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    IF p_epoch IS NOT NULL THEN
      -- A reaper waits for this claim, and the next claim sees what it did. A renewal waits for neither.
      PERFORM 1 FROM {s}.sessions s
      WHERE s.tenant = p_tenant AND s.worker = p_worker_id AND s.epoch = p_epoch AND s.ended_at IS NULL FOR KEY SHARE;
      IF NOT FOUND THEN RETURN false; END IF;
    END IF;
    UPDATE {s}.calls c SET worker = p_worker, worker_id = p_worker_id, epoch = p_epoch, claim_token = p_token, started_at = p_at
    WHERE c.tenant = p_tenant AND c.batch_id = p_batch AND c.position = p_position
      AND c.worker_id IS NULL AND c.finished_at IS NULL;
    IF FOUND THEN RETURN true; END IF;
    RETURN EXISTS (
      SELECT 1 FROM {s}.calls c
      WHERE c.tenant = p_tenant AND c.batch_id = p_batch AND c.position = p_position AND c.claim_token = p_token);
  END $$;

  CREATE FUNCTION {s}.keep_1(p_tenant text, p_hashes text[], p_contents bytea[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO {s}.blobs (tenant, hash, content) SELECT p_tenant, u.hash, u.content
    FROM unnest(p_hashes, p_contents) AS u (hash, content) ON CONFLICT (tenant, hash) DO NOTHING
  $$;

  CREATE FUNCTION {s}.note_1(
    p_tenant text, p_batch text, p_position integer, p_kind text, p_data text, p_at double precision, p_again boolean
  ) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT EXISTS (
      SELECT 1 FROM {s}.calls c WHERE c.tenant = p_tenant AND c.batch_id = p_batch AND c.position = p_position
    ) THEN RAISE EXCEPTION 'call is unknown' USING ERRCODE = 'TX002'; END IF;
    IF p_again AND EXISTS (
      SELECT 1 FROM {s}.notes n WHERE n.tenant = p_tenant AND n.batch_id = p_batch AND n.position = p_position
        AND n.kind = p_kind AND n.data = p_data AND n.noted_at = p_at
    ) THEN RETURN; END IF;
    INSERT INTO {s}.notes (tenant, batch_id, position, kind, data, noted_at)
    VALUES (p_tenant, p_batch, p_position, p_kind, p_data, p_at);
  END $$;

  -- p_only_queued: a call that runs gets a note instead, and its worker hears of it.
  CREATE FUNCTION {s}.finish_1(
    p_tenant text, p_batch text, p_position integer, p_result text, p_open boolean, p_at double precision,
    p_hashes text[], p_contents bytea[], p_again boolean, p_only_queued boolean
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE r record;
  BEGIN
    SELECT c.result, c.finished_at, c.worker_id INTO r FROM {s}.calls c
    WHERE c.tenant = p_tenant AND c.batch_id = p_batch AND c.position = p_position FOR UPDATE;
    IF NOT FOUND THEN RAISE EXCEPTION 'call is unknown' USING ERRCODE = 'TX002'; END IF;
    IF r.finished_at IS NOT NULL AND r.finished_at = p_at AND r.result = p_result THEN RETURN 'recorded'; END IF;
    IF p_only_queued AND r.finished_at IS NOT NULL THEN RETURN 'done'; END IF;
    IF p_only_queued AND r.worker_id IS NOT NULL THEN
      UPDATE {s}.calls c SET cancel_asked = true
      WHERE c.tenant = p_tenant AND c.batch_id = p_batch AND c.position = p_position;
      PERFORM {s}.note_1(p_tenant, p_batch, p_position, 'cancel', '{}', p_at, p_again);
      RETURN 'asked';
    END IF;
    IF cardinality(p_hashes) > 0 THEN PERFORM {s}.keep_1(p_tenant, p_hashes, p_contents); END IF;
    IF r.finished_at IS NOT NULL THEN
      PERFORM {s}.note_1(p_tenant, p_batch, p_position, 'late_result', p_result, p_at, p_again);
      RETURN 'late';
    END IF;
    UPDATE {s}.calls c SET result = p_result, result_open = p_open, finished_at = p_at
    WHERE c.tenant = p_tenant AND c.batch_id = p_batch AND c.position = p_position;
    RETURN 'recorded';
  END $$;

  CREATE FUNCTION {s}.decide_1(
    p_tenant text, p_id text, p_kind text, p_data text, p_why text, p_at double precision, p_again boolean
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE r record;
  BEGIN
    SELECT b.decision INTO r FROM {s}.batches b WHERE b.tenant = p_tenant AND b.id = p_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN RAISE EXCEPTION 'batch is unknown' USING ERRCODE = 'TX003'; END IF;
    IF p_again AND EXISTS (
      SELECT 1 FROM {s}.decisions d WHERE d.tenant = p_tenant AND d.batch_id = p_id AND d.kind = p_kind
        AND d.data = p_data AND d.decided_at = p_at
    ) THEN RETURN true; END IF;
    IF p_kind <> 'wait' AND r.decision IS DISTINCT FROM 'wait' THEN RETURN false; END IF;
    IF p_kind = 'wait' AND (r.decision IS NOT DISTINCT FROM 'wait' OR NOT EXISTS (
      SELECT 1 FROM {s}.calls c WHERE c.tenant = p_tenant AND c.batch_id = p_id AND c.finished_at IS NULL
    )) THEN RETURN false; END IF;
    INSERT INTO {s}.decisions (tenant, batch_id, kind, data, decided_at) VALUES (p_tenant, p_id, p_kind, p_data, p_at);
    UPDATE {s}.batches b SET decision = p_kind, why = p_why WHERE b.tenant = p_tenant AND b.id = p_id;
    RETURN true;
  END $$;
`;

/**
 * A result ends the claim of `p_worker_id`, or a call without a claim; null: only the latter. The row stays locked
 * until the end of the transaction, so no claim can come in between.
 */
export const CLAIMANTS = `
  CREATE FUNCTION {s}.finish_2(
    p_tenant text, p_batch text, p_position integer, p_result text, p_open boolean, p_at double precision,
    p_hashes text[], p_contents bytea[], p_again boolean, p_worker_id text
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE r record;
  BEGIN
    SELECT c.worker_id, c.result, c.finished_at INTO r FROM {s}.calls c
    WHERE c.tenant = p_tenant AND c.batch_id = p_batch AND c.position = p_position FOR UPDATE;
    IF r.worker_id IS NOT NULL AND r.worker_id IS DISTINCT FROM p_worker_id THEN RETURN 'claimed'; END IF;
    IF p_worker_id IS NULL AND r.finished_at IS NOT NULL AND (r.finished_at <> p_at OR r.result <> p_result) THEN
      RETURN 'late';
    END IF;
    RETURN {s}.finish_1(
      p_tenant, p_batch, p_position, p_result, p_open, p_at, p_hashes, p_contents, p_again, false);
  END $$;
`;

export const CONVERSATIONS = `
  CREATE FUNCTION {s}.message_1(
    p_tenant text, p_conversation text, p_role text, p_content text, p_at double precision, p_again boolean
  ) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM {s}.lock_1(p_tenant, p_conversation);
    IF p_again AND EXISTS (
      SELECT 1 FROM {s}.messages m WHERE m.tenant = p_tenant AND m.conversation = p_conversation AND m.role = p_role
        AND m.content = p_content AND m.sent_at = p_at
    ) THEN RETURN; END IF;
    INSERT INTO {s}.messages (tenant, number, conversation, role, content, sent_at)
    VALUES (p_tenant, nextval('{s}.numbers'), p_conversation, p_role, p_content, p_at);
  END $$;

  -- Under the conversation's lock, so that a reader with a mark never misses a lower number that is committed later.
  CREATE FUNCTION {s}.remember_1(
    p_tenant text, p_conversation text, p_keys text[], p_values text[], p_times double precision[]
  ) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM {s}.lock_1(p_tenant, p_conversation);
    FOR i IN 1..cardinality(p_keys) LOOP
      INSERT INTO {s}.facts AS f (tenant, conversation, key, number, value, remembered_at)
      VALUES (p_tenant, p_conversation, p_keys[i], nextval('{s}.numbers'), p_values[i], p_times[i])
      ON CONFLICT (tenant, conversation, key) DO UPDATE
      SET number = excluded.number, value = excluded.value, remembered_at = excluded.remembered_at
      WHERE f.value <> excluded.value;
    END LOOP;
  END $$;
`;

export const SESSIONS = `
  CREATE FUNCTION {s}.renew_1(
    p_tenant text, p_worker text, p_epoch integer, p_process text, p_offer text, p_at double precision
  ) RETURNS TABLE (beat bigint, batch_id text, "position" integer) LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE counted bigint;
  BEGIN
    UPDATE {s}.sessions s SET beat = s.beat + 1, offer = p_offer
    WHERE s.tenant = p_tenant AND s.worker = p_worker AND s.epoch = p_epoch AND s.ended_at IS NULL
    RETURNING s.beat INTO counted;
    IF counted IS NULL THEN
      PERFORM 1 FROM {s}.sessions s WHERE s.tenant = p_tenant AND s.worker = p_worker FOR UPDATE;
      IF EXISTS (
        SELECT 1 FROM {s}.sessions s WHERE s.tenant = p_tenant AND s.worker = p_worker AND s.epoch >= p_epoch
      ) THEN RETURN; END IF;
      UPDATE {s}.sessions s SET ended_at = p_at
      WHERE s.tenant = p_tenant AND s.worker = p_worker AND s.ended_at IS NULL;
      INSERT INTO {s}.sessions (tenant, worker, epoch, beat, process, offer)
      VALUES (p_tenant, p_worker, p_epoch, 1, p_process, p_offer);
      counted := 1;
    END IF;
    RETURN QUERY
      SELECT counted, c.batch_id, c.position FROM (SELECT 1) AS one LEFT JOIN {s}.calls c
        ON c.tenant = p_tenant AND c.finished_at IS NULL AND c.cancel_asked AND c.worker_id = p_worker AND c.epoch = p_epoch
      ORDER BY c.number;
  END $$;

  CREATE FUNCTION {s}.reap_1(p_tenant text, p_worker text, p_epoch integer, p_beat bigint, p_at double precision)
  RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE r record;
  BEGIN
    -- Waits for the claims that are under way in this session.
    SELECT s.beat, s.ended_at INTO r FROM {s}.sessions s
    WHERE s.tenant = p_tenant AND s.worker = p_worker AND s.epoch = p_epoch FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    IF r.ended_at IS NOT NULL THEN RETURN true; END IF;
    IF r.beat <> p_beat THEN RETURN false; END IF;
    UPDATE {s}.sessions s SET ended_at = p_at
    WHERE s.tenant = p_tenant AND s.worker = p_worker AND s.epoch = p_epoch;
    RETURN true;
  END $$;
`;

/**
 * The sessions that are not over, and those that are and hold unfinished calls. Workers read them every second, so the
 * cost depends on the unfinished calls and the living workers, not on the sessions that have ended.
 */
export const HELD_SESSIONS = `
  CREATE INDEX open_sessions ON {s}.sessions (tenant) WHERE ended_at IS NULL;

  -- The queued calls that a worker accepted are dead once its last session is over.
  CREATE FUNCTION {s}.holders_1(p_tenant text)
  RETURNS TABLE (worker text, epoch integer) LANGUAGE sql STABLE AS $$
    WITH open AS MATERIALIZED (
      SELECT c.batch_id, c.worker_id, c.epoch FROM {s}.calls c WHERE c.tenant = p_tenant AND c.finished_at IS NULL)
    SELECT o.worker_id, o.epoch FROM open o WHERE o.worker_id IS NOT NULL AND o.epoch IS NOT NULL
    UNION
    SELECT a.worker_id, l.epoch FROM (
      SELECT DISTINCT b.worker_id FROM (SELECT DISTINCT o.batch_id FROM open o WHERE o.worker_id IS NULL) AS u
      CROSS JOIN LATERAL (
        SELECT x.worker_id FROM {s}.batches x WHERE x.tenant = p_tenant AND x.id = u.batch_id OFFSET 0) AS b
    ) AS a
    CROSS JOIN LATERAL (
      SELECT s.epoch FROM {s}.sessions s WHERE s.tenant = p_tenant AND s.worker = a.worker_id
      ORDER BY s.epoch DESC LIMIT 1) AS l
  $$;

  CREATE FUNCTION {s}.sessions_1(p_tenant text)
  RETURNS SETOF {s}.sessions LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
  BEGIN
    RETURN QUERY
      SELECT s.* FROM {s}.sessions s WHERE s.tenant = p_tenant AND s.ended_at IS NULL
      UNION ALL
      SELECT r.* FROM {s}.holders_1(p_tenant) AS h CROSS JOIN LATERAL (
        SELECT s.* FROM {s}.sessions s
        WHERE s.tenant = p_tenant AND s.worker = h.worker AND s.epoch = h.epoch AND s.ended_at IS NOT NULL OFFSET 0) AS r;
  END $$;
`;
