-- One row a message, as its latest day has it.
SELECT x.*
FROM raw.messages AS x
SEMI JOIN (SELECT message_id, max(day) AS day FROM raw.messages GROUP BY 1) AS latest USING (message_id, day)
