/**
 * Quotas of tenants. The lock of a tenant is held until the transaction ends, so two processes never take its last free
 * place at the same time; a tenant without quotas is not locked.
 */
export const QUOTAS = `
  CREATE FUNCTION {s}.lock_tenant_1(p_tenant text, p_of text, p_what text) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('{s} ' || p_what || ' ' || p_tenant || ' ' || p_of, 0))
  $$;

  -- p_open: the quota of open calls.
  CREATE FUNCTION {s}.accept_2(
    p_tenant text, p_id text, p_conversation text, p_attach boolean, p_at double precision, p_token text,
    p_worker text, p_worker_id text, p_message text, p_origin text, p_placement text, p_labels text[], p_root text,
    p_call_ids text[], p_turns text[], p_tools text[], p_args text[], p_hashes text[], p_effects text[],
    p_dispositions text[], p_reasons text[], p_open integer
  ) RETURNS TABLE (kind text, first_batch text, first_position integer, why text, behind boolean, open integer)
  LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    size integer := cardinality(p_call_ids);
    tenant_of text := coalesce(p_placement::json ->> 'tenant', p_tenant);
    h_batch text;
    h_place integer;
    h_tool text;
    h_hash text;
    h_open boolean;
    batches text[] := '{}';
    places integer[] := '{}';
    added integer := 0;
    taken integer;
  BEGIN
    IF p_open IS NOT NULL AND NOT EXISTS (
      -- The same request once more, because the answer was lost: its calls are counted already.
      SELECT 1 FROM {s}.batches b WHERE b.tenant = p_tenant AND b.id = p_id AND b.token = p_token
    ) THEN
      PERFORM {s}.lock_tenant_1(p_tenant, tenant_of, 'open');
      FOR i IN 1..size LOOP
        h_batch := NULL;
        IF p_hashes[i] IS NOT NULL AND array_position(p_call_ids[1:i - 1], p_call_ids[i]) IS NULL THEN
          SELECT h.batch_id, h.position, h.tool_name, h.args_hash, h.is_open INTO h_batch, h_place, h_tool, h_hash, h_open
          FROM {s}.holder_1(p_tenant, p_conversation, p_call_ids[i], p_turns[i], true) AS h;
          IF h_open OR h_hash <> p_hashes[i] OR h_tool <> p_tools[i] THEN h_batch := NULL; END IF;
        END IF;
        batches := batches || h_batch; places := places || h_place;
        IF h_batch IS NULL AND p_dispositions[i] <> 'pre_resolved' THEN added := added + 1; END IF;
      END LOOP;
      IF added > 0 THEN
        SELECT count(*) INTO taken FROM {s}.calls c JOIN {s}.batches b ON b.tenant = c.tenant AND b.id = c.batch_id
        WHERE c.tenant = p_tenant AND c.finished_at IS NULL AND c.disposition <> 'pre_resolved' AND b.placement IS NOT NULL
          AND coalesce(b.placement::json ->> 'tenant', p_tenant) = tenant_of;
        IF taken + added > p_open THEN
          RETURN QUERY SELECT
            CASE WHEN batches[i] IS NULL THEN 'over_quota' ELSE 'known' END, coalesce(batches[i], p_id),
            coalesce(places[i], i - 1), NULL::text, false, taken
          FROM generate_series(1, size) AS i ORDER BY i;
          RETURN;
        END IF;
      END IF;
    END IF;
    RETURN QUERY SELECT a.kind, a.first_batch, a.first_position, a.why, a.behind, 0 FROM {s}.accept_1(
      p_tenant, p_id, p_conversation, p_attach, p_at, p_token, p_worker, p_worker_id, p_message, p_origin, p_placement,
      p_labels, p_root, p_call_ids, p_turns, p_tools, p_args, p_hashes, p_effects, p_dispositions, p_reasons) AS a;
  END $$;

  CREATE FUNCTION {s}.running_1(p_tenant text) RETURNS TABLE (of_tenant text, tool_name text, count bigint)
  LANGUAGE sql STABLE AS $$
    SELECT coalesce(b.placement::json ->> 'tenant', p_tenant), c.tool_name, count(*)
    FROM {s}.calls c JOIN {s}.batches b ON b.tenant = c.tenant AND b.id = c.batch_id
    WHERE c.tenant = p_tenant AND c.finished_at IS NULL AND c.worker_id IS NOT NULL AND b.placement IS NOT NULL
    GROUP BY 1, 2
  $$;

  -- Claims of workers with a session, within their quotas and those of the placement.
  CREATE FUNCTION {s}.claim_2(
    p_tenant text, p_batch text, p_position integer, p_worker text, p_worker_id text, p_epoch integer, p_token text,
    p_at double precision
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    offered json;
    r record;
    most integer;
    most_of_tool integer;
  BEGIN
    SELECT s.offer::json -> 'quotas' INTO offered FROM {s}.sessions s
    WHERE s.tenant = p_tenant AND s.worker = p_worker_id AND s.epoch = p_epoch AND s.ended_at IS NULL;
    SELECT c.tool_name, coalesce(b.placement::json ->> 'tenant', p_tenant) AS of_tenant, b.placement::json -> 'quotas' AS quotas
    INTO r FROM {s}.calls c JOIN {s}.batches b ON b.tenant = c.tenant AND b.id = c.batch_id
    WHERE c.tenant = p_tenant AND c.batch_id = p_batch AND c.position = p_position AND b.placement IS NOT NULL;
    most := least((offered ->> 'running')::integer, (r.quotas ->> 'running')::integer);
    most_of_tool := least(
      (offered -> 'tools' ->> r.tool_name)::integer, (r.quotas -> 'tools' ->> r.tool_name)::integer);
    IF most IS NOT NULL OR most_of_tool IS NOT NULL THEN
      PERFORM {s}.lock_tenant_1(p_tenant, r.of_tenant, 'running');
      IF (SELECT coalesce(sum(n.count), 0) >= most OR
          coalesce(sum(n.count) FILTER (WHERE n.tool_name = r.tool_name), 0) >= most_of_tool
        FROM {s}.running_1(p_tenant) AS n WHERE n.of_tenant = r.of_tenant)
      THEN RETURN EXISTS (
        SELECT 1 FROM {s}.calls c
        WHERE c.tenant = p_tenant AND c.batch_id = p_batch AND c.position = p_position AND c.claim_token = p_token);
      END IF;
    END IF;
    RETURN {s}.claim_1(p_tenant, p_batch, p_position, p_worker, p_worker_id, p_epoch, p_token, p_at);
  END $$;
`;

/** Quotas of labels. */
export const LABEL_QUOTAS = `
  CREATE FUNCTION {s}.running_2(p_tenant text)
  RETURNS TABLE (of_tenant text, tool_name text, labels text[], count bigint) LANGUAGE sql STABLE AS $$
    SELECT coalesce(b.placement::json ->> 'tenant', p_tenant), c.tool_name, b.labels, count(*)
    FROM {s}.calls c JOIN {s}.batches b ON b.tenant = c.tenant AND b.id = c.batch_id
    WHERE c.tenant = p_tenant AND c.finished_at IS NULL AND c.worker_id IS NOT NULL AND b.placement IS NOT NULL
    GROUP BY 1, 2, 3
  $$;

  CREATE FUNCTION {s}.most_of_1(p_quotas json, p_offered json, p_limits text, p_name text) RETURNS integer
  LANGUAGE sql IMMUTABLE AS $$
    SELECT least((p_quotas -> p_limits ->> p_name)::integer, (p_offered -> p_limits ->> p_name)::integer)
  $$;

  -- Claims of workers with a session, within their quotas and those of the placement.
  CREATE FUNCTION {s}.claim_3(
    p_tenant text, p_batch text, p_position integer, p_worker text, p_worker_id text, p_epoch integer, p_token text,
    p_at double precision
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    offered json;
    r record;
    most integer;
    most_of_tool integer;
    limited text[];
  BEGIN
    SELECT s.offer::json -> 'quotas' INTO offered FROM {s}.sessions s
    WHERE s.tenant = p_tenant AND s.worker = p_worker_id AND s.epoch = p_epoch AND s.ended_at IS NULL;
    SELECT c.tool_name, b.labels, coalesce(b.placement::json ->> 'tenant', p_tenant) AS of_tenant,
      b.placement::json -> 'quotas' AS quotas
    INTO r FROM {s}.calls c JOIN {s}.batches b ON b.tenant = c.tenant AND b.id = c.batch_id
    WHERE c.tenant = p_tenant AND c.batch_id = p_batch AND c.position = p_position AND b.placement IS NOT NULL;
    most := least((offered ->> 'running')::integer, (r.quotas ->> 'running')::integer);
    most_of_tool := {s}.most_of_1(r.quotas, offered, 'tools', r.tool_name);
    limited := ARRAY(
      SELECT l FROM unnest(r.labels) AS l WHERE {s}.most_of_1(r.quotas, offered, 'labels', l) IS NOT NULL);
    IF most IS NOT NULL OR most_of_tool IS NOT NULL OR limited <> '{}' THEN
      PERFORM {s}.lock_tenant_1(p_tenant, r.of_tenant, 'running');
      IF EXISTS (
        WITH running AS MATERIALIZED (SELECT n.* FROM {s}.running_2(p_tenant) AS n WHERE n.of_tenant = r.of_tenant)
        SELECT 1 FROM (
          SELECT most AS most, sum(n.count) AS taken FROM running n
          UNION ALL SELECT most_of_tool, sum(n.count) FROM running n WHERE n.tool_name = r.tool_name
          UNION ALL SELECT {s}.most_of_1(r.quotas, offered, 'labels', l),
            (SELECT sum(n.count) FROM running n WHERE l = ANY(n.labels)) FROM unnest(limited) AS l
        ) AS t WHERE t.taken >= t.most)
      THEN RETURN EXISTS (
        SELECT 1 FROM {s}.calls c
        WHERE c.tenant = p_tenant AND c.batch_id = p_batch AND c.position = p_position AND c.claim_token = p_token);
      END IF;
    END IF;
    RETURN {s}.claim_1(p_tenant, p_batch, p_position, p_worker, p_worker_id, p_epoch, p_token, p_at);
  END $$;
`;
