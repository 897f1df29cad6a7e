/** The rows of calls at places that another relation names. */
function rowsAt(places: string): string {
  return `CROSS JOIN LATERAL (
        SELECT v.* FROM {s}.call_rows_1 v
        WHERE v.tenant = p_tenant AND v.batch_id = ${places}.batch_id AND v.position = ${places}.position OFFSET 0
      ) AS r`;
}

/**
 * Reads of calls, as functions, because planning them takes longer than running them. Their plans must not depend on the
 * statistics about one tenant: a tenant that is newer than the statistics looks like one without calls, and the planner
 * then reads all calls of the tenant to find one.
 *
 * 1. `plan_cache_mode`: the plan fits any tenant.
 * 2. `OFFSET 0`: each call is looked up by its whole key, however few rows the planner expects.
 */
export const READS = `
  CREATE VIEW {s}.call_rows_1 AS
    SELECT c.tenant, c.batch_id, c.position, c.number, b.number AS batch_number, c.conversation, c.call_id, c.turn,
      c.tool_name, c.args, c.effects, c.disposition, c.reason, c.worker, c.worker_id, c.started_at, c.result,
      c.finished_at, b.attach, b.accepted_at, b.worker AS accepted_by, b.placement, b.decision
    FROM {s}.calls c JOIN {s}.batches b ON b.tenant = c.tenant AND b.id = c.batch_id;

  CREATE FUNCTION {s}.calls_at_1(p_tenant text, p_batches text[], p_positions integer[])
  RETURNS SETOF {s}.call_rows_1 LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
  BEGIN
    RETURN QUERY
      SELECT r.* FROM unnest(p_batches, p_positions) WITH ORDINALITY AS k (batch_id, position, number)
      ${rowsAt('k')} ORDER BY k.number;
  END $$;

  -- The calls of a batch, in order. A delivery that attached is represented by the call it attached to.
  CREATE FUNCTION {s}.delivered_1(p_tenant text, p_batch text)
  RETURNS SETOF {s}.call_rows_1 LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
  BEGIN
    RETURN QUERY
      SELECT r.* FROM (
        SELECT c.position, c.batch_id, c.position FROM {s}.calls c WHERE c.tenant = p_tenant AND c.batch_id = p_batch
        UNION ALL
        SELECT p.position, p.first_batch, p.first_position FROM {s}.repeats p
        WHERE p.tenant = p_tenant AND p.batch_id = p_batch
      ) AS d (number, batch_id, position)
      ${rowsAt('d')} ORDER BY d.number;
  END $$;

  -- The queued calls that an offer can run now, in the order of fairPage. Each distinct placement is parsed once.
  CREATE FUNCTION {s}.queued_calls_1(
    p_tenant text, p_labels text[], p_roots text[], p_quotas json, p_skip bigint, p_limit bigint
  ) RETURNS SETOF {s}.call_rows_1 LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
  BEGIN
    RETURN QUERY
      WITH running AS MATERIALIZED (SELECT r.* FROM {s}.running_2(p_tenant) AS r),
      by_tenant AS (SELECT r.of_tenant, sum(r.count) AS count FROM running AS r GROUP BY 1),
      by_tool AS (SELECT r.of_tenant, r.tool_name, sum(r.count) AS count FROM running AS r GROUP BY 1, 2),
      by_label AS (
        SELECT l.of_tenant, json_object_agg(l.label, l.count) AS counts FROM (
          SELECT r.of_tenant, u.label, sum(r.count) AS count
          FROM running AS r CROSS JOIN LATERAL (SELECT DISTINCT label FROM unnest(r.labels) AS label) AS u GROUP BY 1, 2
        ) AS l GROUP BY 1),
      queue AS MATERIALIZED (
        SELECT c.batch_id, c.position, c.number, c.conversation, c.tool_name, b.placement, coalesce(b.labels, '{}') AS labels
        FROM {s}.calls c CROSS JOIN LATERAL (
          SELECT x.placement, x.labels, x.root, x.decision FROM {s}.batches x
          WHERE x.tenant = p_tenant AND x.id = c.batch_id OFFSET 0) AS b
        WHERE c.tenant = p_tenant AND c.finished_at IS NULL AND c.worker_id IS NULL AND b.placement IS NOT NULL
          AND (b.decision IS NULL OR b.decision = 'resume')
          AND (p_labels IS NULL OR (b.labels <@ p_labels AND (b.root IS NULL OR b.root = ANY(p_roots))))),
      kinds AS MATERIALIZED (
        SELECT d.tool_name, d.placement, d.labels, q.of_tenant, q.priority, n.count AS busy
        FROM (SELECT DISTINCT q.tool_name, q.placement, q.labels FROM queue AS q) AS d
        CROSS JOIN LATERAL (
          SELECT coalesce(p.placement ->> 'tenant', p_tenant) AS of_tenant,
            coalesce((p.placement ->> 'priority')::numeric, 0) AS priority,
            least((p.placement -> 'quotas' ->> 'running')::integer, (p_quotas ->> 'running')::integer) AS most,
            {s}.most_of_1(p.placement -> 'quotas', p_quotas, 'tools', d.tool_name) AS most_of_tool,
            p.placement -> 'quotas' AS quotas
          FROM (SELECT d.placement::json AS placement) AS p) AS q
        LEFT JOIN by_tenant AS n ON n.of_tenant = q.of_tenant
        LEFT JOIN by_tool AS m ON m.of_tenant = q.of_tenant AND m.tool_name = d.tool_name
        LEFT JOIN by_label AS k ON k.of_tenant = q.of_tenant
        WHERE (q.most IS NULL OR coalesce(n.count, 0) < q.most)
          AND (q.most_of_tool IS NULL OR coalesce(m.count, 0) < q.most_of_tool)
          AND NOT EXISTS (
            SELECT 1 FROM unnest(d.labels) AS label
            WHERE coalesce((k.counts ->> label)::bigint, 0) >= {s}.most_of_1(q.quotas, p_quotas, 'labels', label))),
      free AS (
        SELECT q.batch_id, q.position, q.number, k.of_tenant, k.priority, k.busy,
          row_number() OVER (PARTITION BY k.of_tenant, q.conversation ORDER BY q.number) AS turn
        FROM queue AS q JOIN kinds AS k
          ON k.tool_name = q.tool_name AND k.placement = q.placement AND k.labels = q.labels),
      placed AS (
        SELECT f.*, coalesce(f.busy, 0)
          + row_number() OVER (PARTITION BY f.of_tenant ORDER BY f.priority DESC, f.turn, f.number) AS fair
        FROM free AS f),
      page AS (
        SELECT o.* FROM placed AS o ORDER BY o.fair, o.priority DESC, o.number OFFSET p_skip LIMIT p_limit)
      SELECT r.* FROM page AS o ${rowsAt('o')} ORDER BY o.fair, o.priority DESC, o.number;
  END $$;

  -- Of a conversation, or of all (null); after a call, or from the first (null).
  CREATE FUNCTION {s}.unfinished_1(
    p_tenant text, p_conversation text, p_after_batch text, p_after_position integer, p_limit bigint
  ) RETURNS SETOF {s}.call_rows_1 LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
  DECLARE after bigint := 0;
  BEGIN
    IF p_after_batch IS NOT NULL THEN
      SELECT a.number INTO after FROM {s}.calls a
      WHERE a.tenant = p_tenant AND a.batch_id = p_after_batch AND a.position = p_after_position;
    END IF;
    IF p_conversation IS NULL THEN
      RETURN QUERY
        SELECT r.* FROM (
          SELECT c.batch_id, c.position, c.number FROM {s}.calls c
          WHERE c.tenant = p_tenant AND c.finished_at IS NULL AND c.number > after ORDER BY c.number LIMIT p_limit
        ) AS o ${rowsAt('o')} ORDER BY o.number;
    ELSE
      RETURN QUERY
        SELECT r.* FROM (
          SELECT c.batch_id, c.position, c.number FROM {s}.calls c
          WHERE c.tenant = p_tenant AND c.conversation = p_conversation AND c.finished_at IS NULL AND c.number > after
          ORDER BY c.number LIMIT p_limit
        ) AS o ${rowsAt('o')} ORDER BY o.number;
    END IF;
  END $$;

  -- The unfinished calls of the conversation of a batch that came before it, or that run.
  CREATE FUNCTION {s}.waiting_1(p_tenant text, p_batch text)
  RETURNS SETOF {s}.call_rows_1 LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
  DECLARE own record;
  BEGIN
    SELECT b.number, b.conversation INTO own FROM {s}.batches b WHERE b.tenant = p_tenant AND b.id = p_batch;
    IF NOT FOUND THEN RETURN; END IF;
    RETURN QUERY
      SELECT r.* FROM {s}.unfinished_1(p_tenant, own.conversation, NULL, NULL, NULL) AS r
      WHERE r.batch_id <> p_batch AND (r.batch_number < own.number OR r.worker_id IS NOT NULL) ORDER BY r.number;
  END $$;

  ALTER FUNCTION {s}.holder_1 SET plan_cache_mode = force_generic_plan;
  ALTER FUNCTION {s}.accept_2 SET plan_cache_mode = force_generic_plan;
  ALTER FUNCTION {s}.claim_3 SET plan_cache_mode = force_generic_plan;
  ALTER FUNCTION {s}.finish_2 SET plan_cache_mode = force_generic_plan;
`;
