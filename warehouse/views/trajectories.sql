-- One row a trajectory: its highest revision. A later day that re-emits a trace replaces all that the trace had
-- before, so that threads which a late span joined do not live on beside their union, nor calls that turned out
-- to be none.
WITH held AS (
    SELECT trajectory_id, revision, unnest(trace_ids) AS trace_id
    FROM raw.trajectories
),
emitted AS (
    SELECT trace_id, max(revision) AS revision
    FROM (
        SELECT trace_id, revision FROM held
        UNION ALL
        SELECT trace_id, revision FROM raw.unstepped_spans
    )
    GROUP BY 1
),
newest AS (
    SELECT held.trajectory_id, max(emitted.revision) AS revision
    FROM held
    JOIN emitted USING (trace_id)
    GROUP BY 1
)
SELECT t.*
FROM raw.trajectories AS t
JOIN newest USING (trajectory_id, revision)
