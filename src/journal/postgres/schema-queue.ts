/**
 * The queued calls that an offer can run now, in the order of `fairPage`. The server computes it, because most of the
 * calls are not handed out yet. It is a function, because planning the query takes longer than running it, and a
 * function keeps its plan. A reader expects a page of 64.
 */
export const FAIR_QUEUE = `
  CREATE FUNCTION {s}.queued_1(
    p_tenant text, p_labels text[], p_roots text[], p_quotas json, p_skip bigint, p_limit bigint
  ) RETURNS TABLE (batch_id text, "position" integer, place bigint) LANGUAGE plpgsql STABLE ROWS 64 AS $$
  #variable_conflict use_column
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
      free AS (
        SELECT c.batch_id, c.position, c.number, q.of_tenant, q.priority, n.count AS busy,
          row_number() OVER (PARTITION BY q.of_tenant, c.conversation ORDER BY c.number) AS turn
        FROM {s}.calls c JOIN {s}.batches b ON b.tenant = c.tenant AND b.id = c.batch_id
        CROSS JOIN LATERAL (
          SELECT coalesce(p.placement ->> 'tenant', p_tenant) AS of_tenant,
            coalesce((p.placement ->> 'priority')::numeric, 0) AS priority,
            least((p.placement -> 'quotas' ->> 'running')::integer, (p_quotas ->> 'running')::integer) AS most,
            {s}.most_of_1(p.placement -> 'quotas', p_quotas, 'tools', c.tool_name) AS most_of_tool,
            p.placement -> 'quotas' AS quotas
          FROM (SELECT b.placement::json AS placement) AS p) AS q
        LEFT JOIN by_tenant AS n ON n.of_tenant = q.of_tenant
        LEFT JOIN by_tool AS m ON m.of_tenant = q.of_tenant AND m.tool_name = c.tool_name
        LEFT JOIN by_label AS k ON k.of_tenant = q.of_tenant
        WHERE c.tenant = p_tenant AND c.finished_at IS NULL AND c.worker_id IS NULL AND b.placement IS NOT NULL
          AND (b.decision IS NULL OR b.decision = 'resume')
          AND (p_labels IS NULL OR (b.labels <@ p_labels AND (b.root IS NULL OR b.root = ANY(p_roots))))
          AND (q.most IS NULL OR coalesce(n.count, 0) < q.most)
          AND (q.most_of_tool IS NULL OR coalesce(m.count, 0) < q.most_of_tool)
          AND NOT EXISTS (
            SELECT 1 FROM unnest(b.labels) AS label
            WHERE coalesce((k.counts ->> label)::bigint, 0) >= {s}.most_of_1(q.quotas, p_quotas, 'labels', label))),
      placed AS (
        SELECT f.*, coalesce(f.busy, 0)
          + row_number() OVER (PARTITION BY f.of_tenant ORDER BY f.priority DESC, f.turn, f.number) AS fair
        FROM free AS f)
      SELECT o.batch_id, o.position, row_number() OVER (ORDER BY o.fair, o.priority DESC, o.number)
      FROM placed AS o ORDER BY 3 OFFSET p_skip LIMIT p_limit;
  END $$;
`;
