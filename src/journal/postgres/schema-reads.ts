/** The rows of calls at places that another relation names. */
function rowsAt(places: string): string {
  return `CROSS JOIN LATERAL (
        SELECT v.* FROM {s}.call_rows_1 v
        WHERE v.tenant = p_tenant AND v.batch_id = ${places}.batch_id AND v.position = ${places}.position OFFSET 0
      ) AS r`;
}

/**
 * Reads of calls, as functions: to plan them takes longer than to run them. Their plans must not depend on what the server
 * believes about one tenant. It takes a tenant that is new since its last look at the tables for one without calls, and
 * then reads all calls of the tenant to find one.
 *
 * 1. `plan_cache_mode`: a plan for any tenant.
 * 2. `OFFSET 0`: each call is looked up by its whole key, however few rows the server expects.
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

  CREATE FUNCTION {s}.queued_calls_1(
    p_tenant text, p_labels text[], p_roots text[], p_quotas json, p_skip bigint, p_limit bigint
  ) RETURNS SETOF {s}.call_rows_1 LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
  BEGIN
    RETURN QUERY
      SELECT r.* FROM {s}.queued_1(p_tenant, p_labels, p_roots, p_quotas, p_skip, p_limit) AS o
      ${rowsAt('o')} ORDER BY o.place;
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
