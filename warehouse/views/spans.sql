-- One row a span: of several days' copies the most complete one, as trajectories take it.
SELECT x.*
FROM raw.spans AS x
SEMI JOIN (
    SELECT
        trace_id,
        span_id,
        arg_max(day, (status <> 'pending', ended_at IS NOT NULL, content_state = 'full', len(output), day)) AS day
    FROM raw.spans
    GROUP BY ALL
) AS best USING (trace_id, span_id, day)
