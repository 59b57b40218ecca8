-- One row a trajectory with what it was worth: its composed reward, and which hard rules leave it without one. An action
-- that a person denied or changed, or that still waits, is held back by its rule as one is that was done against it.
SELECT
    t.*,
    r.value AS reward,
    r.coverage AS reward_coverage,
    coalesce(  -- a violation anywhere gates the whole rollout
        bool_or(r.verdict = 'gated' OR g.broken IS NOT NULL) OVER (PARTITION BY t.rollout_id),
        false
    ) AS gated,
    coalesce(g.broken, []) AS broken_rules
FROM trajectories AS t
LEFT JOIN (SELECT * FROM rewards WHERE component = 'reward' AND step = -1) AS r USING (trajectory_id)
LEFT JOIN (
    SELECT
        trajectory_id,
        list(rule ORDER BY rule) AS broken
    FROM gates
    WHERE verdict NOT IN ('kept', 'approved')
    GROUP BY 1
) AS g USING (trajectory_id)
