-- Those of the highest revision of their trace: a call that a later day completed is in a step.
SELECT x.*
FROM raw.unstepped_spans AS x
SEMI JOIN (
    SELECT trace_id, max(revision) AS revision
    FROM (
        SELECT unnest(trace_ids) AS trace_id, revision FROM raw.trajectories
        UNION ALL
        SELECT trace_id, revision FROM raw.unstepped_spans
    )
    GROUP BY 1
) AS newest USING (trace_id, revision)
