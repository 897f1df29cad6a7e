/**
 * The delivery that a call's identity names: the first one, or the next delivery of the same call if the first was
 * answered before the person decided.
 */
export const HOLDER = `
  CREATE FUNCTION {s}.holder_1(
    p_tenant text, p_conversation text, p_call_id text, p_turn text, p_attachable boolean,
    OUT batch_id text, OUT "position" integer, OUT tool_name text, OUT args_hash text, OUT is_open boolean
  ) LANGUAGE plpgsql STABLE AS $$
  #variable_conflict use_column
  DECLARE r record;
  BEGIN
    FOR r IN
      SELECT c.batch_id, c.position, c.tool_name, c.args_hash, coalesce(c.result_open, false) AS is_open
      FROM {s}.calls c
      WHERE c.tenant = p_tenant AND c.call_id = p_call_id AND c.conversation = p_conversation
        AND c.turn IS NOT DISTINCT FROM p_turn AND (NOT p_attachable OR c.args_hash IS NOT NULL)
      ORDER BY c.number
    LOOP
      IF batch_id IS NULL OR (is_open AND args_hash = r.args_hash AND tool_name = r.tool_name) THEN
        batch_id := r.batch_id; position := r.position; tool_name := r.tool_name;
        args_hash := r.args_hash; is_open := r.is_open;
      END IF;
    END LOOP;
  END $$;
`;

/**
 * Records a batch in one round trip, under the lock of its conversation. An existing batch is refused, unless this is
 * the same request, repeated because its answer was lost.
 */
export const ACCEPT = `
  CREATE FUNCTION {s}.lock_1(p_tenant text, p_conversation text) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('{s} ' || p_tenant || ' ' || p_conversation, 0))
  $$;

  CREATE FUNCTION {s}.accept_1(
    p_tenant text, p_id text, p_conversation text, p_attach boolean, p_at double precision, p_token text,
    p_worker text, p_worker_id text, p_message text, p_origin text, p_placement text, p_labels text[], p_root text,
    p_call_ids text[], p_turns text[], p_tools text[], p_args text[], p_hashes text[], p_effects text[],
    p_dispositions text[], p_reasons text[]
  ) RETURNS TABLE (kind text, first_batch text, first_position integer, why text, behind boolean)
  LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    size integer := cardinality(p_call_ids);
    blocker record;
    h_batch text;
    h_place integer;
    h_tool text;
    h_hash text;
    h_open boolean;
    twin integer;
    is_same boolean;
    firsts text[] := '{}';
    places integer[] := '{}';
    is_behind boolean := false;
  BEGIN
    IF p_attach THEN PERFORM {s}.lock_1(p_tenant, p_conversation); END IF;
    SELECT b.token INTO blocker FROM {s}.batches b WHERE b.tenant = p_tenant AND b.id = p_id;
    IF FOUND THEN
      IF blocker.token <> p_token THEN RAISE EXCEPTION 'batch is known' USING ERRCODE = 'TX001'; END IF;
      RETURN QUERY
        SELECT CASE WHEN c.batch_id IS NULL THEN 'known' WHEN c.conflicts_with_batch IS NULL THEN 'fresh' ELSE 'conflict' END,
          coalesce(p.first_batch, c.conflicts_with_batch, c.batch_id),
          coalesce(p.first_position, c.conflicts_with_position, c.position), NULL::text, p_attach
        FROM generate_series(0, size - 1) AS i
        LEFT JOIN {s}.calls c ON c.tenant = p_tenant AND c.batch_id = p_id AND c.position = i
        LEFT JOIN {s}.repeats p ON p.tenant = p_tenant AND p.batch_id = p_id AND p.position = i
        ORDER BY i;
      RETURN;
    END IF;
    IF p_attach THEN
      SELECT b.id, b.why INTO blocker FROM {s}.batches b
      WHERE b.tenant = p_tenant AND b.conversation = p_conversation AND b.decision = 'wait'
        AND b.why IS DISTINCT FROM 'approval'
      ORDER BY b.number LIMIT 1;
      IF FOUND THEN
        FOR i IN 1..size LOOP
          h_batch := NULL;
          IF p_hashes[i] IS NOT NULL AND array_position(p_call_ids[1:i - 1], p_call_ids[i]) IS NULL THEN
            SELECT h.batch_id, h.position, h.tool_name, h.args_hash, h.is_open INTO h_batch, h_place, h_tool, h_hash, h_open
            FROM {s}.holder_1(p_tenant, p_conversation, p_call_ids[i], p_turns[i], true) AS h;
          END IF;
          IF h_batch IS NOT NULL AND NOT h_open AND h_hash = p_hashes[i] AND h_tool = p_tools[i] THEN
            RETURN QUERY SELECT 'known', h_batch, h_place, NULL::text, false;
          ELSE
            RETURN QUERY SELECT 'waits', blocker.id, 0, blocker.why, false;
          END IF;
        END LOOP;
        RETURN;
      END IF;
    END IF;
    INSERT INTO {s}.batches (
      tenant, id, number, conversation, attach, size, accepted_at, token, worker, worker_id, message, origin, placement, labels, root
    ) VALUES (
      p_tenant, p_id, nextval('{s}.numbers'), p_conversation, p_attach, size, p_at, p_token, p_worker, p_worker_id,
      p_message, p_origin, p_placement, p_labels, p_root);
    IF p_attach AND size > 0 THEN
      is_behind := EXISTS (
        SELECT 1 FROM {s}.calls c JOIN {s}.batches b ON b.tenant = c.tenant AND b.id = c.batch_id
        WHERE c.tenant = p_tenant AND c.conversation = p_conversation AND c.finished_at IS NULL
          AND (coalesce(c.worker_id, b.worker_id) <> coalesce(p_worker_id, '') OR b.decision = 'resume'
            OR (coalesce(c.worker_id, b.worker_id) IS NULL AND b.placement IS NOT NULL)));
    END IF;
    FOR i IN 1..size LOOP
      h_batch := NULL;
      twin := CASE WHEN i > 1 THEN array_position(p_call_ids[1:i - 1], p_call_ids[i]) END;
      IF twin IS NULL AND p_hashes[i] IS NOT NULL THEN
        SELECT h.batch_id, h.position, h.tool_name, h.args_hash, h.is_open INTO h_batch, h_place, h_tool, h_hash, h_open
            FROM {s}.holder_1(p_tenant, p_conversation, p_call_ids[i], p_turns[i], true) AS h;
      END IF;
      is_same := h_batch IS NOT NULL AND h_hash = p_hashes[i] AND h_tool = p_tools[i];
      IF is_same AND h_open THEN h_batch := NULL; is_same := false; END IF;
      IF twin IS NOT NULL THEN
        firsts := firsts || firsts[twin]; places := places || places[twin];
      ELSIF h_batch IS NOT NULL THEN
        firsts := firsts || h_batch; places := places || h_place;
      ELSE
        firsts := firsts || p_id; places := places || (i - 1);
      END IF;
      IF is_same THEN
        INSERT INTO {s}.repeats (tenant, batch_id, position, first_batch, first_position)
        VALUES (p_tenant, p_id, i - 1, firsts[i], places[i]);
        RETURN QUERY SELECT 'known', firsts[i], places[i], NULL::text, false;
      ELSE
        INSERT INTO {s}.calls (
          tenant, batch_id, position, number, conversation, call_id, turn, tool_name, args, args_hash, effects,
          disposition, reason, conflicts_with_batch, conflicts_with_position
        ) VALUES (
          p_tenant, p_id, i - 1, nextval('{s}.numbers'), p_conversation, p_call_ids[i], p_turns[i], p_tools[i], p_args[i],
          p_hashes[i], p_effects[i], p_dispositions[i], p_reasons[i],
          CASE WHEN firsts[i] <> p_id OR places[i] <> i - 1 THEN firsts[i] END,
          CASE WHEN firsts[i] <> p_id OR places[i] <> i - 1 THEN places[i] END);
        RETURN QUERY SELECT
          CASE WHEN firsts[i] = p_id AND places[i] = i - 1 THEN 'fresh' ELSE 'conflict' END,
          firsts[i], places[i], NULL::text, is_behind;
      END IF;
    END LOOP;
  END $$;
`;

/** A call whose id names another call gets an answer, and no worker may take it. */
export const NEVER_RUN = `
  CREATE FUNCTION {s}.never_run_1() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.disposition := 'pre_resolved';
    RETURN NEW;
  END $$;

  CREATE TRIGGER never_run BEFORE INSERT ON {s}.calls
    FOR EACH ROW WHEN (NEW.conflicts_with_batch IS NOT NULL) EXECUTE FUNCTION {s}.never_run_1();
`;
