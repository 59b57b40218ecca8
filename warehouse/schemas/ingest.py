"""Tables of one arrival day, up to clean spans."""

import polars as pl

from warehouse.schemas.table import TIME, Column, Table

EXPORTS = Table(
    "exports",
    "One row a file that arrived on a day; where it lies stays in the manifest of that day.",
    ("file_id",),
    {
        "day": Column(pl.Date, "UTC day of arrival"),
        "file_id": Column(
            pl.String, "SHA-256 of all bytes so far and, where the dialect names no data set, of the file's name"
        ),
        "bytes": Column(pl.Int64, "size as it arrived; of a file that grew, of what is new"),
        "container": Column(pl.String, "how records are packed: jsonl, json, gzip+jsonl, ..."),
        "dialects": Column(pl.List(pl.String), "who wrote the records: langsmith, otlp_genai, tau_bench, ..."),
        "records": Column(pl.Int64, "records read"),
        "rejects": Column(pl.Int64, "records refused, each with its reason in `rejects`"),
        "blanks": Column(pl.Int64, "empty lines and records that carry nothing by design"),
        "waiting": Column(pl.Int64, "bytes of an incomplete line at its end, left until it is complete", nullable=True),
    },
)

REJECTS = Table(
    "rejects",
    "One row a record that could not be used: where it stood and why, never what it said.",
    ("file_id", "position", "reason"),
    {
        "day": Column(pl.Date, "UTC day of arrival"),
        "file_id": Column(pl.String, "the file, as in `exports`"),
        "position": Column(pl.Int64, "number of the record in its file, from 0"),
        "reason": Column(pl.String, "broken_json, torn_gzip, unknown_dialect, no_ids, unscannable, ..."),
        "bytes": Column(pl.Int64, "size of what was refused, where known", nullable=True),
        "more": Column(
            pl.Int64, "how many more of that reason follow in the file without rows of their own", nullable=True
        ),
    },
)

SPANS = Table(
    "spans",
    "One row a span, whatever SDK wrote it, with personal data and secrets replaced.",
    ("trace_id", "span_id"),
    {
        "day": Column(pl.Date, "UTC day of arrival"),
        "trace_id": Column(pl.String, "hex or UUID as exported; a keyed hash where the export has none"),
        "span_id": Column(pl.String, "hex or UUID as exported; a keyed hash where the export has none"),
        "parent_span_id": Column(pl.String, "the parent, also when it never arrived", nullable=True),
        "file_id": Column(pl.String, "the file it came from, as in `exports`"),
        "position": Column(pl.Int64, "number of the record in that file, from 0"),
        "source": Column(pl.String, "langsmith, otlp, tau_bench, ..."),
        "dialect": Column(pl.String, "the shape of its content, e.g. otlp_genai"),
        "sequence": Column(pl.String, "orders the spans of a trace where times tie (dotted order, position)"),
        "kind": Column(pl.String, "llm, tool, agent, chain, retriever, embedding, evaluator or other"),
        "name": Column(pl.String, "name of the run or span"),
        "started_at": Column(TIME, "start", nullable=True),
        "ended_at": Column(TIME, "end", nullable=True),
        "status": Column(pl.String, "ok, error, pending or unknown"),
        "error_type": Column(pl.String, "class of the error", nullable=True),
        "error": Column(pl.String, "message of the error", nullable=True),
        "agent": Column(pl.String, "agent's name", nullable=True),
        "conversation_id": Column(pl.String, "conversation or thread the trace belongs to", nullable=True),
        "dataset": Column(pl.String, "data set or project that scopes the task id", nullable=True),
        "task": Column(pl.String, "explicit task or example id", nullable=True),
        "trial": Column(pl.Int64, "attempt at the task, where the export says", nullable=True),
        "attributes": Column(pl.String, "other metadata and tags, as JSON"),
        "provider": Column(pl.String, "who served the model", nullable=True),
        "model": Column(pl.String, "model that answered, else the one asked for", nullable=True),
        "response_id": Column(pl.String, "the provider's id of the response", nullable=True),
        "parameters": Column(pl.String, "sampling parameters, as JSON", nullable=True),
        "tools": Column(pl.String, "tools offered, as a JSON list in OpenAI's shape", nullable=True),
        "finish_reason": Column(pl.String, "stop, tool_calls, length, content_filter or error", nullable=True),
        "input_tokens": Column(pl.Int64, "prompt tokens, cached ones included", nullable=True),
        "output_tokens": Column(pl.Int64, "completion tokens, reasoning included", nullable=True),
        "cache_read_tokens": Column(pl.Int64, "prompt tokens read from a cache", nullable=True),
        "reasoning_tokens": Column(pl.Int64, "completion tokens of reasoning", nullable=True),
        "base_span_id": Column(
            pl.String, "earlier span of the trace whose messages this prompt continues", nullable=True
        ),
        "base_length": Column(pl.Int64, "how many messages of that span (prompt, then output) it shares"),
        "prompt_suffix": Column(pl.List(pl.Binary), "ids of the prompt's messages after the shared ones"),
        "prompt_length": Column(pl.Int64, "messages in the whole prompt"),
        "output": Column(pl.List(pl.Binary), "ids of the messages produced; the first is the one that counts"),
        "context_id": Column(pl.Binary, "chained id of the whole prompt: equal prompts, equal ids", nullable=True),
        "result_id": Column(pl.Binary, "chained id of the prompt and the first output", nullable=True),
        "tool_call_id": Column(pl.String, "call that a tool span answers", nullable=True),
        "tool_name": Column(pl.String, "tool that a tool span ran", nullable=True),
        "tool_arguments": Column(pl.String, "its arguments, as JSON", nullable=True),
        "tool_result": Column(pl.String, "its result, as text", nullable=True),
        "content_state": Column(pl.String, "full, truncated, absent, redacted or unparsed"),
        "prompt_token_ids": Column(
            pl.List(pl.Int32), "ids of the prompt's tokens after the shared ones, as logged", nullable=True
        ),
        "prompt_tokens_shared": Column(
            pl.Int64, "how many ids of the base span (prompt, then output) they begin with", nullable=True
        ),
        "output_token_ids": Column(pl.List(pl.Int32), "ids of the tokens produced, as logged", nullable=True),
        "output_logprobs": Column(pl.List(pl.Float64), "natural log-probability of each of them", nullable=True),
        "token_state": Column(
            pl.String, "kept, logprobs (the export has no ids), absent; or dropped: altered, unverified", nullable=True
        ),
        "flags": Column(pl.List(pl.String), "what is odd about it: duplicate_merged, parent_conflict, ..."),
        "altered": Column(pl.Boolean, "whether cleaning changed any of its text, messages included"),
    },
)

MESSAGES = Table(
    "messages",
    "One row a distinct message, cleaned once a day.",
    ("message_id",),
    {
        "day": Column(pl.Date, "UTC day of arrival"),
        "message_id": Column(pl.Binary, "keyed hash (128 bit) of the message as it was before cleaning"),
        "role": Column(pl.String, "system, user, assistant or tool"),
        "content": Column(pl.String, "text"),
        "reasoning": Column(pl.String, "reasoning that the export holds", nullable=True),
        "tool_calls": Column(pl.String, "JSON list of {id, name, arguments}; arguments are JSON text", nullable=True),
        "tool_call_id": Column(pl.String, "call that a tool message answers", nullable=True),
        "name": Column(pl.String, "name of the speaker or the tool", nullable=True),
        "media": Column(pl.String, "JSON list of {modality, mime, id}: media are kept as keyed hashes", nullable=True),
        "altered": Column(pl.Boolean, "whether cleaning changed it"),
    },
)

FEEDBACK = Table(
    "feedback",
    "One row a verdict that somebody or something gave and the export holds.",
    ("feedback_id",),
    {
        "day": Column(pl.Date, "UTC day of arrival"),
        "feedback_id": Column(pl.String, "id as exported; a keyed hash where it has none"),
        "trace_id": Column(pl.String, "trace it is about"),
        "span_id": Column(pl.String, "span it is about; null for the whole trace", nullable=True),
        "key": Column(pl.String, "what was judged"),
        "score": Column(pl.Float64, "numeric verdict, true = 1, false = 0", nullable=True),
        "label": Column(pl.String, "verdict in words", nullable=True),
        "comment": Column(pl.String, "explanation", nullable=True),
        "annotator": Column(pl.String, "human, llm, code, user, env or unknown"),
        "created_at": Column(TIME, "when it was given", nullable=True),
    },
)

PII_FINDINGS = Table(
    "pii_findings",
    "One row a span of text that was replaced, by type and place; the text itself is nowhere.",
    ("place", "row_id", "path", "start"),
    {
        "day": Column(pl.Date, "UTC day of arrival"),
        "place": Column(pl.String, "table and column, e.g. messages.content"),
        "row_id": Column(pl.String, "row in which it was found"),
        "path": Column(pl.String, "position of the leaf inside the value: list indices and depth, no keys"),
        "start": Column(pl.Int64, "offset in the original leaf, in characters"),
        "length": Column(pl.Int64, "length in the original leaf, in characters"),
        "entity": Column(pl.String, "EMAIL_ADDRESS, PERSON, SECRET, ..."),
        "recogniser": Column(pl.String, "what found it"),
        "score": Column(pl.Float64, "the recogniser's confidence"),
    },
)
