-- What was found by type and place, what was changed, what was held back and why, and how many rows are how alike.
WITH scoped_messages AS (SELECT * FROM raw.messages),
scoped_spans AS (SELECT * FROM raw.spans),
scoped_findings AS (SELECT * FROM pii_findings),
scoped_rejects AS (SELECT * FROM rejects),
scoped_trajectories AS (SELECT *, revision AS day FROM trajectories),
-- Above: which rows. Below: what is counted of them, for days and releases alike.
described AS (
    SELECT
        day, coalesce(source, '') AS source, coalesce(dataset, '') AS dataset, coalesce(agent, '') AS agent,
        array_to_string(models, ',') AS models, termination, CAST(started_at AS DATE) AS started
    FROM scoped_trajectories
),
grouped AS (
    SELECT day, 'source, dataset, agent, models, termination, day of start' AS item, count(*) AS size
    FROM described GROUP BY day, source, dataset, agent, models, termination, started
    UNION ALL SELECT day, 'source', count(*) FROM described GROUP BY day, source
    UNION ALL SELECT day, 'dataset', count(*) FROM described GROUP BY day, dataset
    UNION ALL SELECT day, 'agent', count(*) FROM described GROUP BY day, agent
    UNION ALL SELECT day, 'models', count(*) FROM described GROUP BY day, models
    UNION ALL SELECT day, 'termination', count(*) FROM described GROUP BY day, termination
    UNION ALL SELECT day, 'day of start', count(*) FROM described GROUP BY day, started
),
keyed AS (
    SELECT day, trace_id, attributes, unnest(json_keys(attributes)) AS key FROM scoped_spans
),
valued AS (
    SELECT day, key, json_extract(attributes, '/' || replace(replace(key, '~', '~0'), '/', '~1')) AS value, trace_id
    FROM keyed
),
shared AS (
    SELECT day, key, value, count(DISTINCT trace_id) AS size FROM valued GROUP BY ALL
)
SELECT day, 'found' AS section, entity AS item, place, count(*) AS count, sum(length)::BIGINT AS total,
    NULL::BIGINT AS smallest
FROM scoped_findings
GROUP BY day, entity, place
UNION ALL
SELECT day, 'changed', 'messages', 'messages', count(*) FILTER (WHERE altered), count(*), NULL
FROM scoped_messages GROUP BY day
UNION ALL
SELECT day, 'changed', 'spans', 'spans', count(*) FILTER (WHERE altered), count(*), NULL
FROM scoped_spans GROUP BY day
UNION ALL
SELECT
    m.day, 'changed', 'characters', 'messages', coalesce(any_value(f.replaced), 0)::BIGINT,
    sum(length(content) + coalesce(length(reasoning), 0) + coalesce(length(tool_calls), 0))::BIGINT, NULL
FROM scoped_messages AS m
LEFT JOIN (
    SELECT day, sum(length) AS replaced FROM scoped_findings WHERE starts_with(place, 'messages.') GROUP BY day
) AS f USING (day)
GROUP BY m.day
UNION ALL
SELECT day, 'quarantined', reason, 'records', count(*), NULL, NULL
FROM scoped_rejects WHERE starts_with(reason, 'unscannable') OR starts_with(reason, 'leak_')
GROUP BY day, reason
UNION ALL
SELECT day, 'anonymity', item, 'trajectories', coalesce(sum(size) FILTER (WHERE size < 5), 0)::BIGINT,
    sum(size)::BIGINT, min(size)
FROM grouped GROUP BY day, item
UNION ALL
SELECT day, 'anonymity', 'metadata: values of a key', 'spans.attributes', count(*) FILTER (WHERE size < 5), count(*),
    min(size)
FROM shared GROUP BY day
