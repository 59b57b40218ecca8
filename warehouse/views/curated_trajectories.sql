-- One row a trajectory with what it was worth: its composed reward and whether a hard rule was broken.
SELECT
    t.*,
    r.value AS reward,
    r.coverage AS reward_coverage,
    coalesce(r.verdict = 'gated' OR g.gated, false) AS gated,  -- a violation anywhere gates the whole rollout
    coalesce(g.broken, []) AS broken_rules
FROM trajectories AS t
LEFT JOIN (SELECT * FROM rewards WHERE component = 'reward' AND step = -1) AS r USING (trajectory_id)
LEFT JOIN (
    SELECT
        trajectory_id,
        bool_or(verdict = 'violated') AS gated,
        list(rule ORDER BY rule) FILTER (WHERE verdict = 'violated') AS broken
    FROM gates
    GROUP BY 1
) AS g USING (trajectory_id)
