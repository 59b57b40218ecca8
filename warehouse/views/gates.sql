-- Those of the highest revision of their trajectory.
SELECT x.*
FROM raw.gates AS x
SEMI JOIN trajectories AS t USING (trajectory_id, revision)
