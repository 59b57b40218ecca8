-- One row a verdict, as its latest day has it.
SELECT x.*
FROM raw.feedback AS x
SEMI JOIN (SELECT feedback_id, max(day) AS day FROM raw.feedback GROUP BY 1) AS latest USING (feedback_id, day)
