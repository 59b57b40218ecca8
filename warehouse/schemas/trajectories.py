"""Tables of what agents did and what it was worth."""

import polars as pl

from warehouse.schemas.table import TIME, Column, Table

TRAJECTORIES = Table(
    "trajectories",
    "One row one agent's thread of calls in one rollout, as of the day that last touched it.",
    ("trajectory_id",),
    {
        "revision": Column(pl.Date, "arrival day that produced this version; readers take the highest"),
        "trajectory_id": Column(pl.String, "keyed hash of the rollout and the thread"),
        "rollout_id": Column(pl.String, "root trajectory with its sub-agents; what baselines count"),
        "trace_ids": Column(pl.List(pl.String), "traces it spans, in order"),
        "parent_trajectory_id": Column(pl.String, "trajectory whose step called this sub-agent", nullable=True),
        "source": Column(pl.String, "langsmith, otlp, tau_bench, ..."),
        "dataset": Column(pl.String, "data set or project", nullable=True),
        "agent": Column(pl.String, "agent's name", nullable=True),
        "task_id": Column(pl.String, "the group: keyed hash of what `task_rule` names"),
        "task": Column(pl.String, "explicit task id, where there is one", nullable=True),
        "task_rule": Column(pl.String, "explicit or prompt"),
        "task_family": Column(pl.String, "keyed hash of the masked first user text and the tools' names"),
        "trial": Column(pl.Int64, "attempt at the task, where the export says", nullable=True),
        "started_at": Column(TIME, "start of its first call", nullable=True),
        "ended_at": Column(TIME, "end of its last call", nullable=True),
        "steps": Column(pl.Int64, "model calls"),
        "segments": Column(pl.Int64, "stretches in which each prompt continues the one before"),
        "tool_calls": Column(pl.Int64, "tool calls that the model made"),
        "input_tokens": Column(pl.Int64, "sum over its calls", nullable=True),
        "output_tokens": Column(pl.Int64, "sum over its calls", nullable=True),
        "models": Column(pl.List(pl.String), "models that wrote its actions"),
        "termination": Column(pl.String, "finished, error, truncated, abandoned or limit"),
        "trainable": Column(pl.Boolean, "whether every action and prompt is there in full"),
        "flags": Column(pl.List(pl.String), "what is odd about it: missing_result, edited_context, ..."),
    },
)

STEPS = Table(
    "steps",
    "One row one model call: what it was shown that is new, what it produced.",
    ("trajectory_id", "step"),
    {
        "revision": Column(pl.Date, "as in `trajectories`"),
        "trajectory_id": Column(pl.String, "the trajectory"),
        "step": Column(pl.Int64, "number of the call, from 0"),
        "trace_id": Column(pl.String, "trace of the call"),
        "span_id": Column(pl.String, "span of the call"),
        "segment": Column(pl.Int64, "stretch it belongs to, from 0"),
        "segment_rule": Column(pl.String, "why this step begins a segment: start, edited, tools, retry", nullable=True),
        "observed": Column(
            pl.List(pl.Binary),
            "ids of the prompt's messages after the thread so far; the whole prompt where a segment begins",
        ),
        "action": Column(pl.Binary, "id of the message produced"),
        "prompt_length": Column(pl.Int64, "messages in the whole prompt"),
        "tools": Column(pl.String, "tools offered, as a JSON list", nullable=True),
        "model": Column(pl.String, "model that answered", nullable=True),
        "finish_reason": Column(pl.String, "stop, tool_calls, length, content_filter or error", nullable=True),
        "started_at": Column(TIME, "start", nullable=True),
        "ended_at": Column(TIME, "end", nullable=True),
        "input_tokens": Column(pl.Int64, "prompt tokens", nullable=True),
        "output_tokens": Column(pl.Int64, "completion tokens", nullable=True),
        "content_state": Column(pl.String, "as in `spans`"),
    },
)

TOOL_CALLS = Table(
    "tool_calls",
    "One row one tool call that the model made, joined to what came back.",
    ("trajectory_id", "step", "call"),
    {
        "revision": Column(pl.Date, "as in `trajectories`"),
        "trajectory_id": Column(pl.String, "the trajectory"),
        "step": Column(pl.Int64, "the step that called"),
        "call": Column(pl.Int64, "number of the call within its step; a step's calls are parallel"),
        "call_id": Column(pl.String, "id that the model or its server gave", nullable=True),
        "name": Column(pl.String, "tool"),
        "arguments": Column(pl.String, "arguments as the model wrote them, JSON text"),
        "result_id": Column(pl.Binary, "message that told the model the result", nullable=True),
        "tool_span_id": Column(pl.String, "span that ran the tool", nullable=True),
        "join_rule": Column(pl.String, "how the result was found: id, arguments, order or missing"),
        "is_error": Column(pl.Boolean, "whether the tool failed, as far as the trace says"),
    },
)

LEFT_OUT = Table(
    "unstepped_spans",
    "One row an LLM span that is in no step, with the reason.",
    ("trace_id", "span_id"),
    {
        "revision": Column(pl.Date, "as in `trajectories`"),
        "trace_id": Column(pl.String, "its trace"),
        "span_id": Column(pl.String, "the span"),
        "reason": Column(pl.String, "failed, wrapper, duplicate, pending, judge, no_output or no_content"),
    },
)

REWARDS = Table(
    "rewards",
    "One row one reward component of a trajectory or a step; the composed one is called `reward`.",
    ("trajectory_id", "step", "component"),
    {
        "revision": Column(pl.Date, "as in `trajectories`"),
        "trajectory_id": Column(pl.String, "the trajectory"),
        "step": Column(pl.Int64, "the step; -1 for the whole trajectory"),
        "component": Column(pl.String, "its name in tracemill.yaml; `reward` is the composed one"),
        "source": Column(pl.String, "feedback, verifier, rule, import or composed"),
        "version": Column(pl.String, "version of the specification that made it"),
        "value": Column(pl.Float64, "null where it is missing or failed: never 0 by default", nullable=True),
        "verdict": Column(pl.String, "ok, missing, error, altered, flaky, no_sandbox or gated"),
        "coverage": Column(pl.Float64, "share of the weights that had a value, for `reward`", nullable=True),
        "evidence": Column(pl.List(pl.String), "ids of the feedback or spans it rests on"),
        "verifier": Column(pl.String, "name of the verifier or rule: math, code, latency, ...", nullable=True),
        "evidence_hash": Column(pl.String, "hash of what a verifier judged and compared it with", nullable=True),
        "votes": Column(pl.Float64, "weight of the votes, where feedback is smoothed", nullable=True),
        "duration": Column(pl.Float64, "seconds that a verifier took", nullable=True, measured=True),
    },
)

GATES = Table(
    "gates",
    "One row one hard rule applied to one trajectory.",
    ("trajectory_id", "rule"),
    {
        "revision": Column(pl.Date, "as in `trajectories`"),
        "trajectory_id": Column(pl.String, "the trajectory"),
        "rule": Column(pl.String, "its name in tracemill.yaml"),
        "version": Column(pl.String, "version of the rule"),
        "verdict": Column(
            pl.String, "kept or violated; of what needs a person's word approved, denied, edited or needs_approval"
        ),
        "step": Column(pl.Int64, "first step that the verdict is about", nullable=True),
        "span_id": Column(pl.String, "span of that step", nullable=True),
    },
)

# A view, so that nothing is written under it.
CURATED = Table(
    "curated_trajectories",
    "One row a trajectory, at its highest revision, with what it was worth.",
    TRAJECTORIES.key,
    {
        **TRAJECTORIES.columns,
        "reward": Column(pl.Float64, "composed reward; null where it is missing or gated", nullable=True),
        "reward_coverage": Column(pl.Float64, "share of the weights that had a value", nullable=True),
        "gated": Column(pl.Boolean, "whether a hard rule leaves its rollout without a reward"),
        "broken_rules": Column(
            pl.List(pl.String), "the hard rules that do, of its own: violated, or denied, edited or still waiting"
        ),
    },
)
