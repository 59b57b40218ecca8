-- One row a trajectory: its highest revision. A later day that re-emits a trace replaces all that the trace had
-- before, so that threads which a late span joined do not live on beside their union.
WITH emitted AS (
    SELECT unnest(trace_ids) AS trace_id, max(revision) AS revision
    FROM raw.trajectories
    GROUP BY 1
),
newest AS (
    SELECT t.trajectory_id, max(e.revision) AS revision
    FROM (SELECT DISTINCT trajectory_id, unnest(trace_ids) AS trace_id FROM raw.trajectories) AS t
    JOIN emitted AS e USING (trace_id)
    GROUP BY 1
)
SELECT t.*
FROM raw.trajectories AS t
JOIN newest USING (trajectory_id, revision)
